"""Which parts of the bot a process runs, built from settings and credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.app import App
from bot.chat.api_counts import ApiCounts
from bot.chat.digest_posting import DigestPosting
from bot.chat.notifying import Notifier
from bot.chat.ports import Platform
from bot.chat.running import Background, RunOptions, RunParts
from bot.chat.service import ChatOptions, ChatService
from bot.chat_settings import PLATFORMS, admins, outsiders_answered, review_channels
from bot.clock import now
from bot.credentials import credential, needed
from bot.metrics_wiring import RunMetrics
from bot.settings import Settings
from bot.weekly_digest import Post
from store.errors import ConfigurationError

if TYPE_CHECKING:
    from bot.chat.discord_app import DiscordOptions
    from bot.chat.slack_app import SlackOptions

TOKENS = {"slack": "SLACK_BOT_TOKEN", "discord": "DISCORD_TOKEN"}


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
    names = [name for name in PLATFORMS if (name in wanted if wanted is not None else credential(TOKENS[name]))]
    scheduled = wanted is None or "scheduler" in wanted
    if not names and wanted is None:
        raise ConfigurationError(
            "There is nothing to run: neither SLACK_BOT_TOKEN nor DISCORD_TOKEN is set.",
            "docs/slack.md and docs/discord.md say how to get them; `gaplight run --only scheduler` needs none.",
        )
    metrics = RunMetrics(app)
    service = ChatService(app.chat, ChatOptions(answer_outsiders=outsiders_answered(app.settings)))
    platforms = [_platform(name, app.settings, service, metrics.api(name)) for name in names]
    if names and not admins(app.settings):
        app.report("No admin is named in the settings under [admins]: nobody can approve a source in chat.")
    channels = review_channels(app.settings)
    digests = DigestPosting(app.posts, app.questions, channels, app.chat.workers, now)
    return RunParts(
        service=service,
        cards=app.chat.cards,
        platforms=platforms,
        ready=app.ready,
        notifier=Notifier(app.discovery.notices, app.chat.workers, now),
        routes=[route for platform in platforms for route in platform.routes()],
        digests=digests,
        background=_background(app, digests.post_from_thread if channels else None, metrics) if scheduled else (),
        scrape=metrics.scrape(service, platforms),
    )


def slack_options(settings: Settings) -> SlackOptions:
    """How Slack is reached.

    Raises:
        ConfigurationError: a token or secret that the mode needs is not set.
    """
    from bot.chat.slack_app import SlackOptions

    chosen = settings.slack
    socket = chosen.mode == "socket"
    return SlackOptions(
        bot_token=needed(TOKENS["slack"], "docs/slack.md says where to find it."),
        app_token=needed("SLACK_APP_TOKEN", "Socket Mode needs it; docs/slack.md says where.") if socket else "",
        signing_secret=""
        if socket
        else needed("SLACK_SIGNING_SECRET", "HTTP mode needs it; docs/slack.md says where."),
        api_url=chosen.api_url,
        mode=chosen.mode,
        answer_outsiders=chosen.answer_outsiders,
    )


def discord_options(settings: Settings) -> DiscordOptions:
    """How Discord is reached.

    Raises:
        ConfigurationError: the token is not set.
    """
    from bot.chat.discord_app import DiscordOptions

    token = needed(TOKENS["discord"], "docs/discord.md says where to find it.")
    return DiscordOptions(token=token, api_url=settings.discord.api_url, guilds=settings.discord.guilds)


def _platform(name: str, settings: Settings, service: ChatService, calls: ApiCounts) -> Platform:
    if name == "slack":
        options = slack_options(settings)
        from bot.chat.slack_app import SlackPlatform

        return SlackPlatform(options, service, calls)
    discord = discord_options(settings)
    from bot.chat.discord_app import DiscordPlatform

    return DiscordPlatform(discord, service, calls)


def _background(app: App, post: Post | None, metrics: RunMetrics) -> tuple[Background, ...]:
    from bot.jobs import jobs, runner
    from bot.scheduler import Scheduler

    return (Scheduler(runner(app, post, ended=metrics.counted.job_ended), jobs(app)),)
