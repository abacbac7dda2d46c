"""What commands show only when they are asked for it: what was asked in private, and ids that would tell of it.

The id of a gap is made from its wording, so that a guess at the wording can be checked by its id.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated

import typer

from bot.cli.output import messages
from store.gaps import GapStore
from store.records import Candidate, Topic, Visibility

IncludePrivate = Annotated[
    bool, typer.Option("--include-private", help="Also what was asked in private. Mind who sees the output.")
]


def public_ids(gaps: GapStore) -> frozenset[str]:
    """Ids of the gaps that everybody may see."""
    return frozenset(gap.id for gap in gaps.list(None, Visibility.PUBLIC))


def topic_with(topic: Topic, shown: Collection[str] | None) -> Topic:
    """A topic with these gaps only, and with an id of its own where some are left; None keeps all."""
    if shown is None:
        return topic
    return replace(topic, id=topic.id if topic.question else "", gap_ids=_among(topic.gap_ids, shown))


def candidate_with(candidate: Candidate, shown: Collection[str] | None) -> Candidate:
    """A suggestion with these gaps only; None keeps all."""
    return candidate if shown is None else replace(candidate, gap_ids=_among(candidate.gap_ids, shown))


def say_hidden(count: int, noun: str) -> None:
    """Say beside the output that something was left out of it."""
    if count:
        some = f"1 private {noun} is" if count == 1 else f"{count} private {noun}s are"
        messages().print(f"{some} not shown; --include-private shows what there is.", markup=False)


def _among(ids: Sequence[str], shown: Collection[str]) -> tuple[str, ...]:
    return tuple(one for one in ids if one in shown)
