"""The sentences of a digest, the same on every platform. Pure; plain text, nothing is marked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from discovery.digest import Digest, DigestTopic
from store.records import Candidate, Preview, Rule, Trend

_REASONS: Mapping[str, str] = {
    Rule.NO_RELEVANT_CHUNKS: "no document is about it",
    Rule.FEW_DISTINCT_LESSONS: "hardly any document touches on it",
    Rule.RELATED_BUT_UNANSWERED: "documents come near but do not answer it",
    Rule.MISSING_PLATFORM: "it names a product that the documents do not know",
    Rule.WEAK_ANSWER_LANGUAGE: "the answer itself said that it was not sure",
    Rule.EXPLICIT_ABSENCE_QUERY: "it asks whether there is anything on the subject, and nothing was found",
    Rule.GENERAL_KNOWLEDGE_ANSWER: "the answer did not come from documents",
}
_TRENDS: Mapping[Trend, str] = {
    Trend.NEW: "new",
    Trend.GROWING: "growing",
    Trend.STEADY: "steady",
    Trend.SHRINKING: "shrinking",
    Trend.RETURNING: "back again",
}
_BARS = "▁▂▃▄▅▆▇█"
_SHOWN_REASONS = 3


def title(digest: Digest) -> str:
    """One line that names the digest and its window."""
    until = _day(digest.until)
    return (
        f"What the documents don't answer, {_day(digest.since)} to {until}"
        if digest.since
        else (f"What the documents don't answer, up to {until}")
    )


def quiet_line(digest: Digest) -> str:
    """What is said in a week without news."""
    since = f" since {_day(digest.since)}" if digest.since else ""
    waiting = f", {counted(digest.waiting, 'suggestion')} waiting for a decision" if digest.waiting else ""
    return f"Nothing new{since}: {counted(digest.open_topics, 'open topic')}{_private_too(digest)}{waiting}."


def summary(digest: Digest) -> list[str]:
    """What is new, a sentence each."""
    lines = [
        f"{counted(digest.new_questions, 'question')} asked in vain, {counted(digest.new_gaps, 'new gap')}.",
        f"{counted(digest.open_topics, 'open topic')}{_moves(digest)}{_private_too(digest)}.",
    ]
    if digest.new_candidates or digest.waiting:
        new = f", {digest.new_candidates} of them new" if digest.new_candidates else ""
        lines.append(f"{counted(digest.waiting, 'suggested source')} waiting for a decision{new}.")
    for verb, questions, private in (
        ("closed", digest.closed, digest.closed_private),
        ("reopened", digest.reopened, digest.reopened_private),
    ):
        if questions or private:
            lines.append(f"{counted(len(questions) + private, 'gap')} {verb}.")
    return lines


def people(shown: DigestTopic) -> str:
    """Who asked how often."""
    topic = shown.topic
    new = f", {shown.new_questions} of them since the last digest" if 0 < shown.new_questions < topic.count else ""
    private = f"; {counted(topic.private_gaps, 'private gap')} included" if topic.private_gaps else ""
    return f"{counted(topic.askers, 'person', 'people')} asked {counted(topic.count, 'time')}{new}{private}"


def trend(shown: DigestTopic) -> str:
    """How the topic has moved, in a word or two."""
    return _TRENDS[shown.topic.trend]


def reasons(shown: DigestTopic) -> list[str]:
    """Why the questions count as gaps, the most frequent reasons first, in words."""
    return [f"{_REASONS.get(tag, tag)} ({counted(count, 'question')})" for tag, count in shown.reasons[:_SHOWN_REASONS]]


def weeks(shown: DigestTopic) -> str:
    """Questions a week as a row of bars, oldest first; empty when the log knows of none."""
    most = max(shown.weeks, default=0)
    if not most:
        return ""
    return "".join(_BARS[round(count / most * (len(_BARS) - 1))] for count in shown.weeks)


def place(document: str, section: str) -> str:
    """Where a passage stands."""
    return f"{document} › {section}" if section else document


def preview(found: Preview | None) -> str:
    """What asking with a source showed."""
    if found is None or not found.asked:
        return "not tried out on the questions"
    changed = f"; would change {counted(found.changed, 'answer')} fine today" if found.changed else ""
    return f"would answer {found.answered} of {counted(found.asked, 'question')} (best {found.best_score:.2f}){changed}"


def source(candidate: Candidate) -> str:
    """Where a suggestion comes from and under which licence."""
    found = candidate.source
    parts = [found.location, f"licence {found.licence or 'unknown'}"]
    parts += [name for name, so in (("archived", found.archived), ("fork", found.fork)) if so]
    return ", ".join(parts)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _moves(digest: Digest) -> str:
    moved: Sequence[Trend] = (Trend.NEW, Trend.GROWING, Trend.RETURNING, Trend.SHRINKING)
    parts = [f"{digest.trends[one]} {_TRENDS[one]}" for one in moved if digest.trends.get(one)]
    return f" ({', '.join(parts)})" if parts else ""


def _private_too(digest: Digest) -> str:
    return f" and {counted(digest.private_gaps, 'private gap')}" if digest.private_gaps else ""


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
