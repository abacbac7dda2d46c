"""``gaplight digest``: the report of the latest round."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.app import App, opened
from bot.cli.output import console, messages, print_json, report
from bot.cli.state import State
from bot.digest_json import digest_as_json
from discovery.digest import Digest
from discovery.digest_markdown import digest_markdown
from store.errors import ConfigurationError, NotFoundError, UnavailableError, UsageError

_EXAMPLES = """Examples:

  gaplight digest

  gaplight digest --output digest.html

  gaplight digest --preview

  gaplight digest --post
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(digest)


def digest(
    context: typer.Context,
    preview: Annotated[bool, typer.Option("--preview", help="What a round would say now; nothing is kept.")] = False,
    post: Annotated[bool, typer.Option("--post", help="Post it to digest.channel, as far as it is not there.")] = False,
    output: Annotated[Path | None, typer.Option(help="File to write: .md, .html, or .png for the chart.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show, write or post the digest of the latest round. Nothing private is in it but numbers."""
    if preview and post:
        raise UsageError("--preview and --post exclude each other.", "A preview is kept nowhere and posted nowhere.")
    with opened(context.ensure_object(State).settings, report, exclusive=post) as app:
        made = app.reporting.digests.preview(app.reporting.glance) if preview else _latest(app)
        if post:
            _post(app, made)
    if output is not None:
        _write(output, made)
        messages().print(f"{output} written.", markup=False)
    if as_json:
        print_json(digest_as_json(made))
    elif output is None and not post:
        console().print(digest_markdown(made), markup=False, end="")


def _latest(app: App) -> Digest:
    found = app.reporting.digests.latest()
    if found is None:
        raise NotFoundError("There has been no round yet.", "`gaplight round` makes one.")
    return found


def _post(app: App, made: Digest) -> None:
    from bot.chat.posting_once import post_once
    from bot.chat_settings import review_channels
    from bot.jobs import weekly_digest
    from bot.running import run_parts_of

    channels = review_channels(app.settings)
    if not channels:
        raise ConfigurationError(
            "There is nowhere to post the digest: digest.channel is empty.",
            'Set it to the platform and id of a channel, such as "slack:C0123456789".',
        )
    parts = run_parts_of(app, frozenset(channels))
    assert parts.digests is not None
    weekly = weekly_digest(app, parts.digests.post_from_thread)
    posted = asyncio.run(post_once(parts, lambda: weekly.post(made)))
    console().print("Posted." if posted else "Everything was posted before.")


def _write(output: Path, made: Digest) -> None:
    suffix = output.suffix.lower()
    if suffix == ".png":
        from discovery.charts import chart_png

        content = chart_png(made.chart)
    elif suffix in {".html", ".htm"}:
        from discovery.digest_html import digest_html

        content = digest_html(made).encode()
    elif suffix in {".md", ".markdown", ".txt"}:
        content = digest_markdown(made).encode()
    else:
        raise UsageError(f"{output} has no ending that says what to write.", "Use .md, .html or .png.")
    try:
        output.write_bytes(content)
    except OSError as error:
        raise UnavailableError(f"{output} cannot be written: {error.strerror}.", "Choose another --output.") from error
