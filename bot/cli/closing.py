"""The part of the demo that closes a gap: look for a document, approve it, ask again."""

from __future__ import annotations

from rich.console import Console

from bot.app import App
from bot.cli.output import progress_bar
from bot.cli.render import show_reply
from store.errors import GaplightError
from store.records import Candidate, Question, Topic

_BY = "demo:admin"


def close_one_gap(app: App, target: Console) -> bool:
    """Look for a document for each gap, approve the best suggestion, and show what its question is answered now.

    Returns:
        Whether a document was ingested.
    """
    folders = ", ".join(str(folder) for folder in app.settings.discovery.folders)
    target.print(f"\nLooking for documents for the gaps in {folders}\n", style="bold", markup=False)
    found = _suggested(app)
    if not found:
        target.print("Nothing there comes near.", markup=False)
        return False
    for topic, candidate in found:
        target.print(_line(topic, candidate), markup=False)
    topic, best = max(found, key=lambda one: one[1].score)
    target.print(f"\nAn admin approves {best.source.title}: it is ingested, and the question is asked again.\n")
    try:
        outcome = app.discovery.decisions.approve(best.id, _BY)
    except GaplightError as error:
        target.print(str(error), markup=False)
        return False
    for gap in outcome.reasked:
        state = "closed" if gap.closed else "still open"
        target.print(f"Gap {gap.gap_id[:8]} is {state}: support {gap.before:.2f} before, {gap.after:.2f} now.")
    target.print(f"\n? {topic.question}\n", style="bold cyan", markup=False)
    show_reply(app.engine.ask(Question(topic.question, platform="demo"), log=False), target)
    return True


def _suggested(app: App) -> list[tuple[Topic, Candidate]]:
    """The best suggestion for each gap that has one."""
    with progress_bar() as bar:
        topics = bar.track(app.discovery.topics(), description="Looking")
        found = [(topic, app.discovery.suggesting.suggest(topic).candidates) for topic in topics]
    return [(topic, candidates[0]) for topic, candidates in found if candidates]


def _line(topic: Topic, candidate: Candidate) -> str:
    preview = candidate.preview
    shown = f", would answer {preview.answered} of {preview.asked}" if preview else ""
    return f"- {topic.question}\n    {candidate.source.title} ({candidate.source.location}){shown}"
