"""Which parts of the bot a process runs, built from settings and credentials."""

from __future__ import annotations

from bot.app import App
from bot.chat.ports import Platform
from bot.chat.running import Background, RunOptions, RunParts
from bot.chat.service import ChatOptions, ChatService
from bot.chat_settings import PLATFORMS, admins, outsiders_answered
from bot.credentials import credential, needed
from bot.settings import Settings
from store.errors import ConfigurationError

_TOKENS = {"slack": "SLACK_BOT_TOKEN", "discord": "DISCORD_TOKEN"}


def run_options(settings: Settings) -> RunOptions:
    """How the process runs."""
    server = settings.server
    return RunOptions(host=server.host, port=server.port, stop_seconds=server.stop_seconds)


def run_parts_of(app: App, wanted: frozenset[str] | None) -> RunParts:
    """Everything that runs.

    Args:
        app: the parts below.
        wanted: names of parts; None for each platform that has a token, and the scheduler.

    Raises:
        ConfigurationError: there is nothing to run, or a token is missing for a part that was asked for.
    """
    names = [name for name in PLATFORMS if (name in wanted if wanted is not None else credential(_TOKENS[name]))]
    scheduled = wanted is None or "scheduler" in wanted
    if not names and wanted is None:
        raise ConfigurationError(
            "There is nothing to run: neither SLACK_BOT_TOKEN nor DISCORD_TOKEN is set.",
            "docs/slack.md and docs/discord.md say how to get them; `gaplight run --only scheduler` needs none.",
        )
    service = ChatService(app.chat, ChatOptions(answer_outsiders=outsiders_answered(app.settings)))
    platforms = [_platform(name, app.settings, service) for name in names]
    if names and not admins(app.settings):
        app.report("No admin is named in the settings under [admins]: nobody can approve a source in chat.")
    return RunParts(
        service=service,
        cards=app.chat.cards,
        platforms=platforms,
        ready=app.ready,
        routes=[route for platform in platforms for route in platform.routes()],
        background=_background(app) if scheduled else (),
    )


def _platform(name: str, settings: Settings, service: ChatService) -> Platform:
    token = needed(_TOKENS[name], f"docs/{name}.md says where to find it.")
    return _slack(token, settings, service) if name == "slack" else _discord(token, settings, service)


def _slack(token: str, settings: Settings, service: ChatService) -> Platform:
    from bot.chat.slack_app import SlackOptions, SlackPlatform

    socket = settings.slack.mode == "socket"
    options = SlackOptions(
        bot_token=token,
        app_token=needed("SLACK_APP_TOKEN", "Socket Mode needs it; docs/slack.md says where.") if socket else "",
        signing_secret=""
        if socket
        else needed("SLACK_SIGNING_SECRET", "HTTP mode needs it; docs/slack.md says where."),
        api_url=settings.slack.api_url,
        mode=settings.slack.mode,
    )
    return SlackPlatform(options, service)


def _discord(token: str, settings: Settings, service: ChatService) -> Platform:
    from bot.chat.discord_app import DiscordOptions, DiscordPlatform

    options = DiscordOptions(token=token, api_url=settings.discord.api_url, guilds=settings.discord.guilds)
    return DiscordPlatform(options, service)


def _background(_app: App) -> tuple[Background, ...]:
    return ()
