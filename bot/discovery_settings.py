"""The tables ``[discovery]`` and ``[github]``: where documents for gaps are looked for, and which may be ingested."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from bot.section import RemoteUrl, Section
from discovery.licences import DEFAULT_ALLOWED, INTERNAL


class DiscoveryLimits(Section):
    """``[discovery.limits]``: how much is looked at.

    ``found`` sources are asked of each finder for a topic, ``previews`` of them are fetched and tried out, and the best
    ``candidates`` are suggested. ``searches`` are requests to GitHub's search that one topic may cost.
    """

    found: int = Field(default=12, ge=1, le=100)
    previews: int = Field(default=6, ge=1, le=50)
    candidates: int = Field(default=3, ge=1, le=20)
    searches: int = Field(default=9, ge=1, le=100)
    file_kilobytes: int = Field(default=5_000, ge=1, le=50_000)


class DiscoverySettings(Section):
    """``[discovery]``.

    ``allow`` and ``deny`` are patterns for owners, repositories, folders and paths; ``licences`` are SPDX identifiers.
    ``folder_licence`` is that of folders without a licence text; empty means unknown.
    """

    finders: tuple[Literal["folder", "github"], ...] = ("folder",)
    folders: tuple[Path, ...] = ()
    organisations: tuple[str, ...] = ()
    wider: bool = True
    licences: tuple[str, ...] = DEFAULT_ALLOWED
    folder_licence: str = INTERNAL
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    collection: str = ""
    expire_days: int = Field(default=30, ge=0)
    tell_askers: bool = True
    limits: DiscoveryLimits = DiscoveryLimits()


class GithubSettings(Section):
    """``[github]``: ``api_url`` of an Enterprise server ends in ``/api/v3``. ``GITHUB_TOKEN`` is the token."""

    api_url: RemoteUrl = "https://api.github.com"
