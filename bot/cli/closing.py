"""The part of the demo that closes a gap: a round with its digest, an approval, the question asked again."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from bot.app import App
from bot.cli.output import progress_bar
from bot.cli.render import show_reply
from bot.clock import now
from discovery.digest_html import digest_html
from discovery.digest_markdown import digest_markdown
from store.errors import GaplightError
from store.records import Candidate, Question
from store.rounds import Round

_BY = "demo:admin"


def close_one_gap(app: App, target: Console) -> bool:
    """Make a round, show its digest, approve the best suggestion, and show what its question is answered now.

    Returns:
        Whether a document was ingested.
    """
    folders = ", ".join(str(folder) for folder in app.settings.discovery.folders)
    target.print(f"\nA round: topics of the gaps, and documents for them from {folders}\n", style="bold", markup=False)
    made = _round(app)
    digest = app.reporting.digests.of(made)
    target.print(digest_markdown(digest), markup=False)
    page = app.settings.data / "digest.html"
    page.write_text(digest_html(digest), encoding="utf-8")
    waiting = [app.candidates.get(one) for one in made.candidates]
    closed = bool(waiting) and _approved(app, target, max(waiting, key=lambda one: one.score))
    app.reporting.store.report(made.number, now())
    target.print(f"\nThe report as a page: {Path(page).absolute()}", markup=False)
    return closed


def _round(app: App) -> Round:
    with progress_bar() as bar:
        task = bar.add_task("Looking for documents", total=None)
        return app.reporting.rounds.run(
            lambda label, done, topics: bar.update(task, description=label, completed=done, total=topics)
        )


def _approved(app: App, target: Console, best: Candidate) -> bool:
    target.print(f"\nAn admin approves {best.source.title}: it is ingested, and the questions are asked again.\n")
    try:
        outcome = app.discovery.decisions.approve(best.id, _BY)
    except GaplightError as error:
        target.print(str(error), markup=False)
        return False
    for gap in outcome.reasked:
        state = "closed" if gap.closed else "still open"
        target.print(f"Gap {gap.gap_id[:8]} is {state}: support {gap.before:.2f} before, {gap.after:.2f} now.")
    for gap in outcome.reasked[:1]:
        target.print(f"\n? {gap.question}\n", style="bold cyan", markup=False)
        show_reply(app.engine.ask(Question(gap.question, platform="demo"), log=False), target)
    return True
