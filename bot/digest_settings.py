"""The table ``[digest]``: when the scheduled work is done, and where its results are posted."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.section import Section


class DigestSettings(Section):
    """``[digest]``.

    ``channel`` holds platform and id, such as ``slack:C0123456789``; several may be given. ``nightly`` is when folders
    are read again, closed gaps are asked again and old questions are deleted. All times are those of ``timezone``.
    ``quiet`` says what happens in a week without news.
    """

    channel: str | tuple[str, ...] = ()
    weekday: str = "monday"
    time: str = "09:00"
    nightly: str = "02:30"
    timezone: str = "UTC"
    quiet: Literal["line", "silence"] = "line"
    grace_hours: float = Field(default=20, gt=0, le=120)
