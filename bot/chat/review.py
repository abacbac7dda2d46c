"""What maintainers see and admins decide in chat. Synchronous; fails closed: who is not named as an admin is none."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.chat import wording
from bot.chat.access import admin_as, is_admin
from bot.chat.candidate_cards import candidate_card
from bot.chat.messages import Card, Outgoing, Person, Press, Verb
from discovery.ports import Deciding, Outcome, Via
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.errors import GaplightError
from store.gaps import GapStore
from store.records import OPEN_GAPS, AuditEntry, Candidate, CandidateState, Topic, Visibility

logger = logging.getLogger(__name__)

DECISIONS = frozenset({Verb.APPROVE, Verb.REJECT, Verb.SNOOZE})
_SHOWN_GAPS = 15
_SHOWN_TOPICS = 10
_SHOWN_CANDIDATES = 10
_SNOOZE_DAYS = 7
_ID = re.compile(r"(?=.*\d)[0-9a-f]{4,12}|[0-9a-f]{12}")
_WORDS = {"gaps", "digest", "status", "help", "candidates"}


class NoticeSwitch(Protocol):
    """Whether a person is told of closed gaps; see :class:`discovery.notices.Notices`."""

    def stop(self, asker: str) -> None:
        """Not any more."""

    def resume(self, asker: str) -> None:
        """Again."""


@dataclass(frozen=True, slots=True)
class ReviewParts:
    """What is shown and decided on.

    Attributes:
        deciding: carries decisions out; None where discovery is not set up.
        topics: the open topics, in words that everybody may see.
        digest: the latest digest as cards.
        status: how the bot is doing, as Markdown.
        admins: ids with platform prefix of people, groups and roles; empty means nobody.
        notices: where people switch messages about closed gaps off; None where there are none.
    """

    candidates: CandidateStore
    gaps: GapStore
    audit: AuditLog
    deciding: Deciding | None
    topics: Callable[[], list[Topic]]
    digest: Callable[[], tuple[Card, ...]]
    status: Callable[[], str]
    admins: Collection[str]
    notices: NoticeSwitch | None
    now: Callable[[], datetime]


class Review:
    """Commands, cards and decisions; may be used by many threads."""

    def __init__(self, parts: ReviewParts) -> None:
        self._parts = parts

    def decide(self, press: Press) -> Outgoing | None:
        """Carry out a decision, if whoever made it may; None when the redrawn card says all.

        Raises:
            GaplightError: it was decided before, or cannot be carried out.
        """
        if refusal := self._refusal(press):
            return refusal
        outcome = self._carried_out(press)
        return Outgoing(outcome_text(outcome), private=True)

    def command(self, words: str, person: Person, channel: str = "") -> tuple[Outgoing | Card, ...]:
        """What a command shows or does, in words that everybody may see; empty when the words are no command."""
        first, _, rest = words.strip().partition(" ")
        verb = first.casefold()
        if verb in {one.value for one in DECISIONS} and _names_candidate(rest):
            return (self._decided(Verb(verb), rest.strip(), person, channel),)
        if verb == "notices" and rest.strip().casefold() in {"on", "off"}:
            return (self._switched(person, on=rest.strip().casefold() == "on"),)
        if rest.strip() or (verb and verb not in _WORDS):
            return ()
        return self._shown(verb or "help", person)

    def _shown(self, word: str, person: Person) -> tuple[Outgoing | Card, ...]:
        match word:
            case "gaps":
                return (Outgoing(self._gaps()),)
            case "digest":
                return self._parts.digest() or (Outgoing("There has been no digest yet."),)
            case "candidates":
                return self._pending(person) or (Outgoing("No source waits for a decision by you."),)
            case "status":
                return (Outgoing(self._parts.status()),)
        return (Outgoing(wording.HELP),)

    def home(self, person: Person) -> tuple[Card, ...]:
        """Open topics, and for admins the sources that wait."""
        topics = [topic for topic in self._parts.topics() if topic.question][:_SHOWN_TOPICS]
        cards = [
            Card("topic", topic.id, 0, topic.label, f"{topic.question}\n{wording.topic_line(topic)}")
            for topic in topics
        ]
        if not cards:
            cards = [Card("notice", "", 0, "No open topics", self._gaps())]
        return (*cards, *self._pending(person))

    def card(self, candidate_id: str) -> Card:
        """A candidate's card as it stands now.

        Raises:
            NotFoundError: the candidate was deleted.
        """
        return candidate_card(self._parts.candidates.get(candidate_id))

    def _switched(self, person: Person, *, on: bool) -> Outgoing:
        notices = self._parts.notices
        if notices is None or not person.id:
            return Outgoing(wording.NO_DISCOVERY, private=True)
        if on:
            notices.resume(person.id)
            return Outgoing("I'll tell you when a question of yours gets an answer later.", private=True)
        notices.stop(person.id)
        return Outgoing("I won't tell you any more when a question gets an answer later.", private=True)

    def _decided(self, verb: Verb, words: str, person: Person, channel: str) -> Outgoing:
        beginning, _, note = words.partition(" ")
        platform = person.id.partition(":")[0]
        press = Press(platform, verb, beginning, person, channel, "", "", note.strip())
        if not is_admin(person, self._parts.admins):
            return self._refused(press)  # whether there is such a source is nobody else's business
        press = replace(press, subject=self._parts.candidates.get(beginning).id)
        return self.decide(press) or Outgoing("Done.", private=True)

    def _carried_out(self, press: Press) -> Outcome:
        deciding = self._parts.deciding
        if deciding is None:
            raise GaplightError(wording.NO_DISCOVERY)
        subject, by, note = press.subject, press.person.id, press.note
        via = Via(_place(press), admin_as(press.person, self._parts.admins))
        match press.verb:
            case Verb.APPROVE:
                return deciding.approve(subject, by, unknown_licence=note == "unknown-licence", via=via)
            case Verb.SNOOZE:
                return deciding.snooze(subject, by, _SNOOZE_DAYS, via=via)
        return deciding.reject(subject, by, note or "no reason given", via=via)

    def _refusal(self, press: Press) -> Outgoing | None:
        """The words for who may not decide on this source; None for who may."""
        if not is_admin(press.person, self._parts.admins):
            return self._refused(press)
        if not _may_see(self._parts.candidates.get(press.subject)):
            self._note_refusal(press, "private source")
            return Outgoing(wording.DECIDED_ELSEWHERE, private=True)
        return None

    def _refused(self, press: Press) -> Outgoing:
        self._note_refusal(press, _standing(press.person))
        if press.person.uncertain:
            return Outgoing(wording.UNKNOWN_RIGHTS, private=True)
        return Outgoing(wording.NOT_ADMIN if self._parts.admins else wording.NO_ADMINS, private=True)

    def _note_refusal(self, press: Press, because: str) -> None:
        person = press.person.id
        logger.warning("%s may not %s candidate %s (%s)", person, press.verb.value, press.subject, because)
        detail = {"place": _place(press), "role": because}
        self._parts.audit.record(
            AuditEntry(self._parts.now(), person, f"refused_{press.verb.value}", press.subject, detail)
        )

    def _gaps(self) -> str:
        public = self._parts.gaps.list(OPEN_GAPS, Visibility.PUBLIC)
        hidden = len(self._parts.gaps.list(OPEN_GAPS, Visibility.PRIVATE))
        return wording.gap_list(public[:_SHOWN_GAPS], hidden)

    def _pending(self, person: Person) -> tuple[Card, ...]:
        if not is_admin(person, self._parts.admins):
            return ()
        waiting = self._parts.candidates.listed((CandidateState.PENDING,))
        shown = [candidate for candidate in waiting if _may_see(candidate)]
        return tuple(candidate_card(candidate) for candidate in shown[:_SHOWN_CANDIDATES])


def _names_candidate(rest: str) -> bool:
    """Whether what follows a decision is the id of a candidate, or the beginning of one, and no sentence."""
    first = rest.split(maxsplit=1)[0] if rest.strip() else ""
    return bool(_ID.fullmatch(first))


def is_command(words: str) -> bool:
    """Whether a message may be a command: its first word is one, and little follows."""
    first, _, rest = words.strip().partition(" ")
    verb = first.casefold()
    return (verb in _WORDS and not rest.strip()) or verb == "notices" or verb in {one.value for one in DECISIONS}


def outcome_text(outcome: Outcome) -> str:
    """What a decision led to, for whoever made it."""
    candidate = outcome.candidate
    match candidate.state:
        case CandidateState.REJECTED:
            return "Rejected; it is not suggested for this topic again."
        case CandidateState.SNOOZED:
            return "Snoozed; I'll ask again."
        case CandidateState.FAILED:
            return f"It could not be ingested: {candidate.note}"
    if not outcome.reasked:
        return "Approved and ingested."
    closed = [one for one in outcome.reasked if one.closed]
    lines = [f"Approved and ingested. {len(closed)} of {len(outcome.reasked)} gaps are closed."]
    lines += [
        f"- {'closed' if one.closed else 'still open'}: {one.question} (support {one.before:.2f} → {one.after:.2f})"
        for one in outcome.reasked
    ]
    return "\n".join(lines)


def _place(press: Press) -> str:
    """Where somebody decided, with the platform's prefix; the bot's own page has no channel."""
    return f"{press.platform}:{press.channel}" if press.channel else press.platform


def _standing(person: Person) -> str:
    """What somebody is who is no admin, for the audit log."""
    if person.uncertain:
        return "not known"
    return "outsider" if person.outsider else "member"


def _may_see(candidate: Candidate) -> bool:
    return candidate.visibility is Visibility.PUBLIC
