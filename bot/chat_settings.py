"""What the chat reads in the settings, in the chat's own words. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bot.chat.access import Channel
from bot.settings import Settings
from store.errors import ConfigurationError

PLATFORMS = ("slack", "discord")


def channels(settings: Settings) -> Mapping[str, Channel]:
    """Every ``[channels.NAME]``."""
    return {
        name.removeprefix("#"): Channel(
            collections=table.collections,
            scope={key: (value,) if isinstance(value, str) else value for key, value in table.scope.items()},
            auto_answer=table.auto_answer,
            auto_answers_per_hour=table.auto_answers_per_hour,
            experts=table.experts,
        )
        for name, table in settings.channels.items()
    }


def admins(settings: Settings) -> frozenset[str]:
    """The ids of all who decide, each with its platform in front; blank entries name nobody."""
    return frozenset(
        f"{platform}:{name.strip()}"
        for platform, names in (("slack", settings.admins.slack), ("discord", settings.admins.discord))
        for name in names
        if name.strip()
    )


def outsiders_answered(settings: Settings) -> frozenset[str]:
    """The platforms on which people from other organisations are answered."""
    allowed = {"slack": settings.slack.answer_outsiders, "discord": settings.discord.answer_outsiders}
    return frozenset(platform for platform, so in allowed.items() if so)


def review_channels(settings: Settings) -> dict[str, str]:
    """By platform, the channel of digests and candidate cards: ``digest.channel``, such as ``slack:C1``.

    Raises:
        ConfigurationError: an entry lacks its platform.
    """
    chosen = settings.digest.channel
    found = {}
    for entry in filter(None, (chosen,) if isinstance(chosen, str) else chosen):
        platform, _, channel = entry.strip().partition(":")
        if platform not in PLATFORMS or not channel:
            raise ConfigurationError(
                f"digest.channel holds {entry!r}, which names no channel of a platform.",
                "Write the platform and the channel's id, such as slack:C0123456789 or discord:112233.",
            )
        found[platform] = channel
    return found
