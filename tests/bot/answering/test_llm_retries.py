"""What may heal is tried again within bounds; what keeps failing is left alone for a while."""

from __future__ import annotations

import pytest

from store.breaker import BreakerPolicy
from store.errors import LlmError, LlmFailure
from tests.fakes.http_server import replies
from tests.fakes.llm import breaks_off, fails, says

PROMPT = ({"role": "user", "content": "Hello?"},)


def ask(client, **options):
    return client.complete(PROMPT, answer_tokens=100, **options)


def failure(client, **options):
    with pytest.raises(LlmError) as caught:
        ask(client, **options)
    return caught.value


@pytest.mark.parametrize("turn", [fails(503), fails(429), fails(500), breaks_off])
def test_what_may_heal_is_tried_again(server, client_of, turn):
    pauses = []
    server.script(turn, turn, says("At last."))
    assert ask(client_of(retries=2, pause=pauses.append)).text == "At last."
    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize("turn", [fails(400), fails(401), fails(413), says(""), replies(b"<html>")])
def test_what_will_not_heal_is_not_tried_again(server, client_of, turn):
    server.script(turn, says("Never."))
    failure(client_of(retries=2))
    assert len(server.requests) == 1


def test_retries_are_bounded(server, client_of):
    server.script(*[fails(503)] * 9)
    assert failure(client_of(retries=2)).failure is LlmFailure.OVERLOADED
    assert len(server.requests) == 3


def test_the_pause_that_a_server_asks_for_is_kept(server, client_of):
    pauses = []
    server.script(fails(429, Retry_After="3"), says("Yes."))
    ask(client_of(retries=1, pause=pauses.append))
    assert pauses == [3.0]


def test_no_pause_reaches_beyond_the_whole_time(server, client_of):
    pauses = []
    server.script(fails(429, Retry_After="3600"), says("Never."))
    assert failure(client_of(retries=2, pause=pauses.append)).failure is LlmFailure.RATE_LIMITED
    assert pauses == []


def test_after_failures_in_a_row_nothing_is_asked_any_more(server, client_of):
    server.script(*[fails(503)] * 3)
    client = client_of(BreakerPolicy(failures=3, rest=600))
    kinds = [failure(client).failure for _ in range(5)]
    assert kinds == [LlmFailure.OVERLOADED] * 3 + [LlmFailure.CIRCUIT_OPEN] * 2
    assert len(server.requests) == 3


def test_after_its_rest_it_is_asked_again(server, client_of):
    server.script(fails(503), says("Back."), says("And again."))
    client = client_of(BreakerPolicy(failures=1, rest=0.0))
    failure(client)
    assert [ask(client).text, ask(client).text] == ["Back.", "And again."]


@pytest.mark.parametrize("turn", [says(""), says("x", finish="length"), says("x", finish="content_filter"), fails(413)])
def test_failures_of_one_question_do_not_stop_the_next(server, client_of, turn):
    server.script(*[turn] * 4, says("Fine."))
    client = client_of(BreakerPolicy(failures=2, rest=600))
    for _ in range(4):
        failure(client)
    assert ask(client).text == "Fine."
