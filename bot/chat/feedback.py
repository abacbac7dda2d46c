"""What people say about answers: votes, what is missing, a person's help, and replies that become documents.

Synchronous; what is posted as a consequence is the caller's task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.chat import wording
from bot.chat.access import Channel, channel_of
from bot.chat.messages import Marked, Outgoing, Person, Press, Verb
from store.audit import AuditLog
from store.candidates import CandidateStore, candidate_id
from store.errors import NotFoundError
from store.posts import ANSWER, PostStore
from store.privacy import redact
from store.questions import QuestionRecord, QuestionStore
from store.records import AuditEntry, Candidate, GapReference, Question, Source, Visibility

_REFERRAL = "referral"
"""Kind of the claims on questions that were passed on to a person: once is enough."""
SHARED = "answer.shared"
"""Action in the audit log: somebody made an answer public that only they could see."""
_TITLE = 120
_FOR_EVER = float("inf")


@dataclass(frozen=True, slots=True)
class Referral:
    """A question to a person: what to post, and whom to call."""

    question_id: str
    text: str
    mention: str


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """An answer that was private, to be posted for everybody."""

    text: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """What marking a reply led to; without a candidate, nothing was stored."""

    outgoing: Outgoing
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class FeedbackParts:
    """What feedback works with.

    Attributes:
        report_missing: opens or joins the gap of a question; see :meth:`bot.answering.engine.Engine.report_missing`.
        channels: settings of channels by id or name.
        collection: where adopted replies would be ingested.
        now: the present moment.
        voted: told of each vote, whether it was a good one.
    """

    questions: QuestionStore
    posts: PostStore
    candidates: CandidateStore
    audit: AuditLog
    report_missing: Callable[[Question], GapReference]
    channels: Mapping[str, Channel]
    collection: str
    now: Callable[[], datetime]
    voted: Callable[[bool], None] = lambda _helpful: None


class Feedback:
    """Records what people say about answers; may be used by many threads."""

    def __init__(self, parts: FeedbackParts) -> None:
        self._parts = parts

    def press(self, press: Press) -> Outgoing:
        """A vote, or the word that something is missing.

        Raises:
            NotFoundError: the question has been deleted since.
        """
        record = self._asked(press.subject)
        _refuse_outsider(press.person)
        if press.verb is Verb.MISSING:
            gap = self._gap_of(record, press.person.id)
            return Outgoing(f"Noted as missing from the documents (gap `{gap[:8]}`). Thank you.", private=True)
        helpful = press.verb is Verb.HELPFUL
        self._parts.questions.vote(record.id, press.person.id, helpful, press.note, now=self._parts.now())
        self._parts.voted(helpful)
        return Outgoing("Thank you, that helps to find weak spots." if not helpful else "Thank you.", private=True)

    def react(self, platform: str, channel: str, message: str, person: Person, helpful: bool | None) -> None:
        """A reaction on an answer; on anything else it means nothing."""
        post = self._parts.posts.get(platform, channel, message)
        if post is None or post.kind != ANSWER or person.outsider or not person.id:
            return
        try:
            if helpful is None:
                self._parts.questions.unvote(post.subject, person.id)
            else:
                self._parts.questions.vote(post.subject, person.id, helpful, now=self._parts.now())
                self._parts.voted(helpful)
        except NotFoundError:
            return  # the question was forgotten on somebody's wish; there is nothing left to vote on

    def referral(self, press: Press) -> Referral | Outgoing:
        """The question to a person, or words that say why there is none.

        Raises:
            NotFoundError: the question has been deleted since.
        """
        record = self._asked(press.subject)
        _refuse_outsider(press.person)
        if not _stands_there(record, press):
            return Outgoing(wording.NOT_OPEN, private=True)
        experts = channel_of(self._parts.channels, press.channel, "").experts
        if not experts:
            return Outgoing("No experts are named for this channel in the settings, under `[channels]`.", private=True)
        if not self._parts.questions.claim(_REFERRAL, record.id, now=self._parts.now(), retry_seconds=_FOR_EVER):
            return Outgoing("Somebody was asked already, in the thread.", private=True)
        return Referral(record.id, wording.referral(record.text, ""), ",".join(experts))

    def take_back(self, referral: Referral) -> None:
        """The referral could not be posted: it may be tried again."""
        self._parts.questions.release(_REFERRAL, referral.question_id)

    def shared_answer(self, press: Press, may_read: Callable[[Sequence[str]], bool]) -> SharedAnswer | Outgoing:
        """A private answer for everybody, if its asker wants that.

        Args:
            press: of the button below the answer.
            may_read: whether the asker may still read these collections.

        Raises:
            NotFoundError: the question has been deleted since.
        """
        record = self._asked(press.subject)
        _refuse_outsider(press.person)
        if record.asker != press.person.id:
            return Outgoing("Only the person who asked can share this answer.", private=True)
        if not may_read(record.collections):
            return Outgoing("You may not read the sources of this answer any more, so I don't share it.", private=True)
        by, place = press.person.id, f"{press.platform}:{press.channel}"
        self._parts.audit.record(
            AuditEntry(self._parts.now(), by, SHARED, record.id, {"place": place, "collections": [*record.collections]})
        )
        quoted = "\n".join(f"> {line}" for line in record.text.splitlines())
        return SharedAnswer(f"{quoted}\n\n{record.answer}")

    def adopt(self, marked: Marked) -> Adopted:
        """Store a person's reply as a suggestion for the admins."""
        _refuse_outsider(marked.marked_by)
        asked = self._parts.questions.of_conversation(marked.conversation, 1)
        text = redact(marked.text).strip()
        if not asked:
            return Adopted(
                Outgoing("I was not asked anything in this conversation, so this answers nothing.", private=True)
            )
        if not text:
            return Adopted(Outgoing("There is no text in this message that could become a document.", private=True))
        record = asked[-1]
        gap = self._gap_of(record, record.asker)
        candidate = self._parts.candidates.suggest(self._draft(marked, record, gap, text))
        words = "Thank you. I suggested it to the admins; once they approve, it becomes part of the documents."
        return Adopted(Outgoing(words, private=True), candidate)

    def _draft(self, marked: Marked, record: QuestionRecord, gap_id: str, text: str) -> Candidate:
        title = " ".join(record.text.split())[:_TITLE]
        key = f"person:{marked.platform}:{marked.channel}:{marked.message}"
        private = Visibility.PRIVATE in {marked.visibility, record.visibility}
        source = Source(
            key=key,
            finder="person",
            title=f"Answer to: {title}",
            location=marked.url or f"a message on {marked.platform}",
            url=marked.url,
            revision=marked.message,
            licence="internal",
            owner=marked.author.id,
            size=len(text.encode()),
            updated_at=self._parts.now(),
            reasons=("Somebody marked this reply as the answer.",),
            content=f"# {title}\n\n{text}\n",
        )
        return Candidate(
            id=candidate_id(gap_id, key),
            topic_id=gap_id,
            topic_label=title,
            source=source,
            created_at=self._parts.now(),
            gap_ids=(gap_id,),
            score=1.0,
            collection=self._parts.collection,
            visibility=Visibility.PRIVATE if private else Visibility.PUBLIC,
        )

    def _gap_of(self, record: QuestionRecord, by: str) -> str:
        """The gap that a question belongs to; a person who says so once more is counted towards it."""
        question = Question(
            text=record.text,
            asker=by,
            platform=record.platform,
            channel=record.channel,
            visibility=record.visibility,
            collections=tuple(record.collections),
            scope=record.scope,
            id=record.id,
            conversation=record.conversation,
        )
        if record.gap_id and by == record.asker:
            return record.gap_id
        return self._parts.report_missing(question).id

    def _asked(self, question_id: str) -> QuestionRecord:
        return self._parts.questions.get(question_id)


def _stands_there(record: QuestionRecord, press: Press) -> bool:
    """Whether those who would read the question again could read it where it was asked."""
    if press.conversation == record.conversation:
        return True
    return record.visibility is Visibility.PUBLIC and press.channel == record.channel


def _refuse_outsider(person: Person) -> None:
    if person.outsider or not person.id:
        raise NotFoundError("I only take feedback from people who belong to this organisation.")
