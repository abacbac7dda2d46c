"""Every message ends in a message, and a conversation is remembered as far as it helps."""

from __future__ import annotations

from threading import Thread

import pytest

from bot.chat.handlers import Conversations, Handlers
from bot.chat.messages import Incoming
from store.errors import UsageError
from store.records import Reply, Status, Turn, Visibility


class Listener:
    """Stands for the engine: keeps the questions, and gives back or raises what it was told."""

    def __init__(self, *outcomes):
        self.questions = []
        self._outcomes = list(outcomes)

    def ask(self, question, *, log=True):
        self.questions.append(question)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return Reply(question.text, outcome, f"reply to {question.text}")


def incoming(text, conversation="c1"):
    return Incoming(text, "slack:U1", "slack", conversation, "C1", Visibility.PRIVATE, ("hr",), {"version": ("2",)})


def test_a_message_reaches_the_engine_with_everything_that_is_known_of_it():
    engine = Listener(Status.ANSWERED)
    sent = Handlers(engine).message(incoming("hello?"))
    question = engine.questions[0]
    assert (question.text, question.asker, question.platform, question.channel) == ("hello?", "slack:U1", "slack", "C1")
    assert (question.visibility, question.collections) == (Visibility.PRIVATE, ("hr",))
    assert question.scope == {"version": ("2",)}
    assert (sent.text, sent.reply.status) == ("reply to hello?", Status.ANSWERED)


def test_turns_are_remembered_within_their_conversation():
    engine = Listener(*[Status.ANSWERED] * 3)
    handlers = Handlers(engine)
    handlers.message(incoming("one"))
    handlers.message(incoming("two"))
    handlers.message(incoming("other", "c2"))
    assert engine.questions[1].history == (Turn("user", "one"), Turn("assistant", "reply to one"))
    assert engine.questions[2].history == ()


@pytest.mark.parametrize("status", [Status.SMALLTALK, Status.CLARIFY, Status.ERROR])
def test_what_was_no_question_is_not_remembered(status):
    handlers = Handlers(Listener(status))
    handlers.message(incoming("thanks"))
    assert handlers.conversations.history("c1") == ()


def test_a_deliberate_error_is_worded_with_its_next_step():
    sent = Handlers(Listener(UsageError("There is no collection 'hr'.", "Known: default."))).message(incoming("x?"))
    assert (sent.text, sent.reply) == ("There is no collection 'hr'. Known: default.", None)


def test_an_unforeseen_error_is_logged_and_tells_nothing_of_itself(caplog):
    sent = Handlers(Listener(RuntimeError("password=hunter2"))).message(incoming("x?"))
    assert "Something went wrong" in sent.text
    assert "hunter2" not in sent.text
    assert caplog.records[0].exc_info[1].args == ("password=hunter2",)


def test_old_turns_and_long_unused_conversations_are_forgotten():
    conversations = Conversations()
    for number in range(12):
        conversations.remember("c1", Turn("user", str(number)))
    assert [turn.text for turn in conversations.history("c1")] == [str(number) for number in range(2, 12)]
    for number in range(999):
        conversations.remember(f"d{number}", Turn("user", "x"))
    conversations.remember("c1", Turn("user", "again"))
    conversations.remember("new", Turn("user", "x"))
    assert conversations.history("d0") == ()
    assert conversations.history("c1")[-1].text == "again"
    conversations.forget("c1")
    conversations.forget("c1")
    assert conversations.history("c1") == ()


def test_no_turn_is_lost_between_threads():
    conversations = Conversations()

    def speak(name):
        for number in range(50):
            conversations.remember(name, Turn("user", str(number)))
            conversations.history(name)

    threads = [Thread(target=speak, args=(f"c{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(8):
        assert [turn.text for turn in conversations.history(f"c{number}")] == [str(n) for n in range(40, 50)]
