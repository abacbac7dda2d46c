"""What the bot says on its own account in chat. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from discovery.digest_words import counted
from store.records import Gap, Topic

GREETING = (
    "Ask me something about your team's documents, and I answer with the places it stands in, "
    "or say that they don't cover it. Write `help` to see what else I do."
)
OUTSIDER = "I answer from internal documents, so I only answer people who belong to this organisation."
UNKNOWN_PERSON = (
    "I could not find out whether you belong to this organisation, so I don't answer. Please try again in a minute."
)
UNKNOWN_GROUPS = (
    "I could not find out which groups you are in, so I searched only what is open to you without them. "
    "Please try again in a minute."
)
UNKNOWN_RIGHTS = (
    "I could not find out which groups you are in, so I can't tell whether you may decide. "
    "Please try again in a minute."
)
NOT_OPEN = "This question was asked where others could not read it, so I don't repeat it here."
DECIDED_ELSEWHERE = (
    "This source came up in private, so it is not shown or decided on in chat. "
    "Whoever runs me finds it with `gaplight candidates list --include-private`."
)
TOO_FAST = (
    "There were a lot of questions in this conversation within a minute. I pause here; please ask again in a minute."
)
NOT_ADMIN = (
    "Only admins can decide on sources, and you are not listed as one. Admins are named in the settings, "
    "under `[admins]`."
)
NO_ADMINS = (
    "Nobody can decide on sources yet: no admin is named. Whoever runs me can add ids of people or groups to the "
    "settings, under `[admins]`."
)
NO_DISCOVERY = "The search for sources is not switched on here."
HELP = """\
**Ask** by mentioning me, in a direct message, or with the command. In a thread in which I answered you, just go on.

- `gaps`: what people asked in vain, most asked first
- `digest`: the latest report on topics and suggested sources
- `candidates`: sources that wait for a decision
- `notices off`, `notices on`: whether I tell you when a question of yours gets an answer later
- `status`: what I know and how I am doing
- `help`: this

Admins decide on a source with the buttons on its card, or with `approve ID`, `reject ID reason`, `snooze ID`."""

_SHOWN = 160


def queued(waiting: int) -> str:
    """What is said while others' questions come first."""
    return f"Many questions at the moment; about {waiting} come before this one."


def gap_list(gaps: Sequence[Gap], hidden: int) -> str:
    """Gaps as a list in Markdown, with what is not shown."""
    lines = [
        f"- {_shortened(gap.question)} ({counted(gap.askers, 'person', 'people')}, "
        f"{counted(gap.count, 'time')}; `{gap.id[:8]}`)"
        for gap in gaps
    ]
    if not lines:
        lines = ["Nothing is open: every public question was answered, or nobody asked yet."]
    if hidden:
        lines.append(f"\nAnd {counted(hidden, 'private gap')}, which I don't show here.")
    return "\n".join(lines)


def topic_line(topic: Topic) -> str:
    """A topic in one line: how many asked, and how it moves."""
    return f"{counted(topic.askers, 'person', 'people')}, {counted(topic.count, 'question')}, {topic.trend.value}"


def referral(question: str, asker_mention: str) -> str:
    """The question to a person, with the way in which the answer is kept."""
    by = f" {asker_mention}" if asker_mention else ""
    return (
        f"The documents don't answer this{by}. Can you?\n\n> {_shortened(' '.join(question.split()), 1500)}\n\n"
        "When somebody has answered, mark the message as the answer: I'll suggest it to the admins as a document."
    )


def closure_notice(question: str, documents: Sequence[str]) -> str:
    """That a question that was asked in vain has an answer now."""
    where = f" in {', '.join(documents[:3])}" if documents else ""
    return (
        f"The documents now answer what you asked{where}:\n\n> {_shortened(' '.join(question.split()), 500)}\n\n"
        "Ask again to see it. `notices off` stops these messages."
    )


def _shortened(text: str, length: int = _SHOWN) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
