"""A message that is meant for the bot, from the right collections to the words and buttons below them. Synchronous."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.chat.access import Channel, Reach, channel_of, may_have_missed, reach, visibility_of
from bot.chat.handlers import Handlers
from bot.chat.messages import Action, Heard, Incoming, Outgoing, Press, Verb
from bot.chat.wording import UNKNOWN_GROUPS
from store.questions import QuestionRecord, QuestionStore
from store.records import ScopeFilter, Status, Turn, Visibility

_HISTORY = 5
_NOTHING_IN_REACH = (
    "There is no collection here that I may search for you. An admin can name collections for this channel "
    "in the settings, under `[channels]`; private ones by the channel's id."
)


@dataclass(frozen=True, slots=True)
class Places:
    """What is configured of channels and private collections.

    Attributes:
        channels: by the platform's id or name; see :func:`bot.chat.access.channel_of`.
        readers: who may read a private collection wherever they ask.
    """

    channels: Mapping[str, Channel] = field(default_factory=dict)
    readers: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of(self, heard: Heard) -> Channel:
        """The settings of the channel that a message was written in."""
        return channel_of(self.channels, heard.channel, heard.channel_name)


class Asking:
    """Answers messages that were taken in; may be used by many threads.

    Args:
        handlers: from question to message.
        questions: the question log; holds what was said before, over restarts and processes.
        collections: everything that is indexed now, with its visibility.
        places: settings of channels.
    """

    def __init__(
        self,
        handlers: Handlers,
        questions: QuestionStore,
        collections: Callable[[], Mapping[str, Visibility]],
        places: Places,
    ) -> None:
        self._handlers = handlers
        self._questions = questions
        self._collections = collections
        self._places = places

    def answer(self, heard: Heard) -> Outgoing:
        """The answer or refusal, with the buttons that fit; private when only the asker may read its sources."""
        known = self._collections()
        channel = self._places.of(heard)
        within = reach(channel, heard.author, known, self._places.readers, heard.collections, alone=heard.alone)
        missed = may_have_missed(heard.author, within, known, self._places.readers)
        if known and not within.shared and not within.personal:
            return Outgoing(UNKNOWN_GROUPS if missed else _NOTHING_IN_REACH)
        history = self._history(heard, within)
        outgoing = self._personal(heard, channel, within, known, history) if within.personal else None
        if outgoing is None:
            incoming = _incoming(heard, within.shared, channel.scope, known)
            outgoing = self._handlers.answer(incoming, history)
        text = f"{outgoing.text}\n\n{UNKNOWN_GROUPS}" if missed else outgoing.text
        return replace(outgoing, text=text, actions=_actions(outgoing, channel, alone=heard.alone))

    def channel(self, heard: Heard) -> Channel:
        """The settings of the channel that a message was written in."""
        return self._places.of(heard)

    def may_still_read(self, press: Press, collections: Sequence[str]) -> bool:
        """Whether whoever pressed a button may read all of these collections now, be it for themselves alone."""
        known = self._collections()
        channel = channel_of(self._places.channels, press.channel, "")
        within = reach(channel, press.person, known, self._places.readers, alone=True)
        return all(name in within.shared or known.get(name) is Visibility.PUBLIC for name in collections)

    def names_in_reach(self, heard: Heard) -> tuple[str, ...]:
        """Collections that a person may search from a place, in alphabetical order."""
        within = reach(
            self._places.of(heard), heard.author, self._collections(), self._places.readers, alone=heard.alone
        )
        return tuple(sorted({*within.shared, *within.personal}))

    def _personal(
        self,
        heard: Heard,
        channel: Channel,
        within: Reach,
        known: Mapping[str, Visibility],
        history: Sequence[Turn],
    ) -> Outgoing | None:
        """An answer for the asker's eyes only; None when what everybody may see answers as well, or nothing does."""
        incoming = _incoming(heard, (*within.shared, *within.personal), channel.scope, known)
        tried = self._handlers.answer(incoming, history, log=False)
        if tried.reply is None or tried.reply.status is not Status.ANSWERED:
            return None
        cited = {citation.document for citation in tried.reply.citations}
        sources = {passage.collection for passage in tried.reply.passages if passage.document in cited}
        if sources.isdisjoint(within.personal):
            return None
        return replace(self._handlers.answer(incoming, history), private=True)

    def _history(self, heard: Heard, within: Reach) -> list[Turn]:
        """What was said before, without what others were told from sources that this asker may not read."""
        if not heard.conversation:
            return []
        earlier = self._questions.of_conversation(heard.conversation, _HISTORY)
        readable = {*within.shared, *within.personal}
        return [turn for record in earlier if readable.issuperset(record.collections) for turn in _turns(record)]


def _turns(record: QuestionRecord) -> tuple[Turn, ...]:
    if record.status not in {Status.ANSWERED, Status.ABSTAINED}:
        return ()
    return Turn("user", record.text), Turn("assistant", record.answer)


def _incoming(
    heard: Heard, collections: Sequence[str], scope: ScopeFilter, known: Mapping[str, Visibility]
) -> Incoming:
    return Incoming(
        text=heard.text,
        asker=heard.author.id,
        platform=heard.platform,
        conversation=heard.conversation,
        channel=heard.channel,
        visibility=visibility_of(heard.visibility, collections, known),
        collections=tuple(collections),
        scope=scope,
    )


def _actions(outgoing: Outgoing, channel: Channel, *, alone: bool) -> tuple[Action, ...]:
    reply = outgoing.reply
    if reply is None or not reply.question_id or reply.status not in {Status.ANSWERED, Status.ABSTAINED}:
        return ()
    subject = reply.question_id
    actions = []
    if reply.status is Status.ANSWERED:
        actions = [
            Action(Verb.HELPFUL, subject, "Helpful"),
            Action(Verb.UNHELPFUL, subject, "Not helpful"),
        ]
    if outgoing.private:
        return (*actions, Action(Verb.SHARE, subject, "Share here"))
    if reply.gap is None:
        actions.append(Action(Verb.MISSING, subject, "This is missing"))
    if channel.experts and not alone:
        actions.append(Action(Verb.ASK_PERSON, subject, "Ask a person"))
    return tuple(actions)
