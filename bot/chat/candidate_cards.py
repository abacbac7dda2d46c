"""A suggested source as a card: what it is, what it would change, and what became of it. Pure."""

from __future__ import annotations

from bot.chat.messages import Action, Card, Outgoing, Verb
from store.posts import CANDIDATE
from store.records import Candidate, CandidateState, Preview, Source

_TITLE = 140
_QUOTE = 200
_EVIDENCE = 3
_REASONS = 4
_DECIDABLE = (CandidateState.PENDING, CandidateState.SNOOZED, CandidateState.FAILED)
_BYTES_A_KILOBYTE = 1000


def candidate_card(candidate: Candidate) -> Card:
    """The card of a candidate as it stands now; buttons only while a decision is open."""
    source = candidate.source
    parts = [f"For: **{_line(candidate.topic_label)}**", _where(source), *_preview(candidate.preview)]
    parts += [f"- {_line(reason)}" for reason in source.reasons[:_REASONS]]
    if state := state_line(candidate):
        parts.append(state)
    return Card(
        kind=CANDIDATE,
        subject=candidate.id,
        version=candidate.version,
        title=_shortened(_line(source.title) or source.location, _TITLE),
        body="\n".join(part for part in parts if part),
        facts=_facts(candidate),
        actions=actions_of(candidate),
    )


def as_message(card: Card) -> Outgoing:
    """A card as an answer, for places where cards have no place of their own."""
    facts = "\n".join(f"- {label}: {value}" for label, value in card.facts.items())
    parts = [f"**{card.title}**", card.body, facts]
    text = "\n\n".join(part for part in parts if part)
    return Outgoing(text, actions=card.actions, private=is_for_one(card))


def is_for_one(item: Outgoing | Card) -> bool:
    """Whether only the person who asked may see it: what waits for a decision is quoted from documents that nobody has
    released yet.
    """
    return item.private if isinstance(item, Outgoing) else item.kind == CANDIDATE


def actions_of(candidate: Candidate) -> tuple[Action, ...]:
    """What can be decided on a candidate now."""
    if candidate.state not in _DECIDABLE:
        return ()
    approve = Action(Verb.APPROVE, candidate.id, "Approve", "primary")
    reject = Action(Verb.REJECT, candidate.id, "Reject", "danger")
    if candidate.state is CandidateState.PENDING:
        return (approve, reject, Action(Verb.SNOOZE, candidate.id, "Snooze a week"))
    return (approve, reject)


def state_line(candidate: Candidate) -> str:
    """What became of a candidate, in one sentence; empty while nobody has decided."""
    by = f" by {candidate.decided_by}" if candidate.decided_by else ""
    note = f": {_line(candidate.note)}" if candidate.note else "."
    match candidate.state:
        case CandidateState.PENDING:
            return ""
        case CandidateState.APPROVED:
            return f"**Approved{by}**; it is being read, and the questions are asked again."
        case CandidateState.SNOOZED:
            until = f" until {candidate.snoozed_until:%d %B %Y}" if candidate.snoozed_until else ""
            return f"**Snoozed{by}**{until}."
        case CandidateState.FAILED:
            return f"**Could not be ingested**{note}"
        case CandidateState.INGESTED:
            return f"**Approved{by} and ingested**{note}"
        case CandidateState.REJECTED | CandidateState.EXPIRED:
            return f"**{candidate.state.value.capitalize()}{by}**{note}"


def preview_line(preview: Preview) -> str:
    """What asking with the source showed, in one sentence."""
    best = f" (best score {preview.best_score:.2f})" if preview.asked else ""
    questions = "question" if preview.asked == 1 else "questions"
    changed = ""
    if preview.changed:
        changed = f"; would change {preview.changed} answer{'s' if preview.changed > 1 else ''} that are fine today"
    return f"Would answer {preview.answered} of {preview.asked} {questions}{best}{changed}."


def _preview(preview: Preview | None) -> list[str]:
    if preview is None:
        return ["It was not tried out on the questions."]
    quotes = [
        f"> {_shortened(_line(passage.quote), _QUOTE)}" for passage in preview.evidence[:_EVIDENCE] if passage.quote
    ]
    return [preview_line(preview), "\n".join(quotes)]


def _where(source: Source) -> str:
    if source.url.startswith(("https://", "http://")):
        return f"[{_line(source.location) or source.url}]({source.url})"
    return f"`{_line(source.location)}`" if source.location else ""


def _facts(candidate: Candidate) -> dict[str, str]:
    source = candidate.source
    facts = {
        "Source": source.finder,
        "Licence": source.licence or "unknown",
        "Owner": source.owner,
        "Updated": f"{source.updated_at:%Y-%m-%d}" if source.updated_at else "",
        "Size": _size(source.size),
        "Revision": source.revision[:12],
        "Collection": candidate.collection,
        "Condition": ", ".join(name for name, so in (("archived", source.archived), ("fork", source.fork)) if so),
    }
    return {label: _line(value) for label, value in facts.items() if value}


def _size(size: int) -> str:
    if not size:
        return ""
    return f"{size} B" if size < _BYTES_A_KILOBYTE else f"{size / _BYTES_A_KILOBYTE:,.0f} kB"


def _line(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
