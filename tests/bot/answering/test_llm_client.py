"""Over HTTP: what a server can do wrong ends in time, as a failure of its own kind, and stops the next call if it must."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time

import pytest

from bot.answering.llm_http import Endpoint
from bot.answering.llm_wire import Usage
from store.errors import LlmError, LlmFailure
from tests.fakes.http_server import drips, hangs, replies
from tests.fakes.llm import breaks_off, completion, drips_body, fails, says

PROMPT = ({"role": "user", "content": "Hello?"},)
FAR = 30.0
"""Seconds that no call here may take: only a server that is waited for without limit would."""


def ask(client, **options):
    return client.complete(PROMPT, answer_tokens=100, **options)


def failure(client, **options):
    with pytest.raises(LlmError) as caught:
        ask(client, **options)
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_comes_with_the_tokens_that_it_took(server, client_of, stream):
    server.script(says("Press the blue button.", usage={"prompt_tokens": 12, "completion_tokens": 5}))
    answer = ask(client_of(stream=stream))
    assert (answer.text, answer.usage) == ("Press the blue button.", Usage(12, 5))
    sent = server.requests[0]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("small", 100, 0)
    assert sent.get("stream", False) is stream
    assert sent["messages"] == list(PROMPT)


def test_a_server_that_does_not_stream_is_understood(server, client_of):
    server.script(replies(completion("Whole.")))
    assert ask(client_of()).text == "Whole."


def test_a_server_that_streams_without_being_asked_is_understood(server, client_of):
    server.script(lambda handler, _request: handler.stream("In pieces.", None, "stop", 2))
    assert ask(client_of(stream=False)).text == "In pieces."


def test_a_schema_is_sent_in_the_standard_form(server, client_of):
    server.script(says("{}"))
    ask(client_of(), schema={"type": "object"})
    assert server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": {"type": "object"}, "strict": True},
    }


def test_options_replace_what_some_models_refuse(server, client_of):
    server.script(says("Yes."))
    ask(client_of(options={"max_completion_tokens": 50, "temperature": 1}))
    sent = server.requests[0]
    assert "max_tokens" not in sent
    assert (sent["max_completion_tokens"], sent["temperature"]) == (50, 1)


def test_the_key_is_sent_and_shown_nowhere(server, client_of, caplog):
    caplog.set_level(logging.DEBUG)
    server.script(fails(500), says("Yes."))
    client = client_of(api_key="hunter2", retries=1)
    ask(client)
    assert [headers["Authorization"] for headers in server.headers] == ["Bearer hunter2"] * 2
    assert "hunter2" not in caplog.text
    assert "hunter2" not in repr(client.endpoint)


def test_without_a_key_none_is_sent(server, client_of):
    server.script(says("Yes."))
    ask(client_of())
    assert "Authorization" not in server.headers[0]


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(server, client_of, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server.script(says("Yes."))
    assert ask(client_of()).text == "Yes."


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (replies({"choices": []}), LlmFailure.EMPTY),
        (replies({}), LlmFailure.EMPTY),
        (replies(completion(None)), LlmFailure.EMPTY),
        (says(""), LlmFailure.EMPTY),
        (says("\n"), LlmFailure.EMPTY),
        (says("<think>The user wants to ...</think>\n"), LlmFailure.EMPTY),
        (says("<think>never closed"), LlmFailure.EMPTY),
        (says("Half of", finish="content_filter"), LlmFailure.FILTERED),
        (says("Half of", finish="length"), LlmFailure.CUT_OFF),
        (replies(b"<html>Bad gateway</html>", kind="text/html"), LlmFailure.GARBAGE),
        (replies(b"", kind="application/json"), LlmFailure.GARBAGE),
        (replies([1, 2]), LlmFailure.GARBAGE),
        (replies(b"data: {broken\n\n", kind="text/event-stream"), LlmFailure.GARBAGE),
        (replies(b"data: {}\n\n", kind="text/event-stream"), LlmFailure.GARBAGE),
        (replies(b"\xff\xfe\x00", kind="application/json"), LlmFailure.GARBAGE),
        (replies(b"x" * 2_500_000, kind="application/json"), LlmFailure.GARBAGE),
        (replies(b"x", kind="application/json", Content_Encoding="gzip"), LlmFailure.GARBAGE),
        (replies({"error": {"message": "model overloaded"}}), LlmFailure.OVERLOADED),
        (fails(401, "bad key"), LlmFailure.REFUSED),
        (fails(404, "no such model"), LlmFailure.REFUSED),
        (fails(400, "temperature does not support 0"), LlmFailure.REFUSED),
        (replies({}, status=302, Location="http://127.0.0.1:9/"), LlmFailure.REFUSED),
        (fails(429), LlmFailure.RATE_LIMITED),
        (fails(503), LlmFailure.OVERLOADED),
        (fails(413, "too large"), LlmFailure.CONTEXT_EXCEEDED),
        (fails(400, "This model's maximum context length is 4096 tokens, however you requested 7900"), LlmFailure.CONTEXT_EXCEEDED),
        (fails(400, "the request exceeds the available context size"), LlmFailure.CONTEXT_EXCEEDED),
        (fails(400, "prompt is too long: 9000 tokens > 8192 maximum"), LlmFailure.CONTEXT_EXCEEDED),
        (fails(500, "the input exceeds the context window"), LlmFailure.CONTEXT_EXCEEDED),
        (breaks_off, LlmFailure.UNREACHABLE),
    ],
)  # fmt: skip
def test_each_failure_has_its_kind(server, client_of, turn, kind):
    server.script(turn)
    error = failure(client_of())
    assert (error.failure, len(server.requests)) == (kind, 1)
    assert error.problem


def test_thoughts_are_not_part_of_an_answer(server, client_of):
    server.script(says("<think>Blue? Yes.</think>Press it."), says("thinking aloud</think>\n\nPress it."))
    client = client_of()
    assert [ask(client).text, ask(client).text] == ["Press it.", "Press it."]


def test_an_answer_of_several_parts_is_joined(server, client_of):
    parts = [{"type": "text", "text": "Press "}, {"type": "text", "text": "it."}]
    server.script(replies({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}))
    assert ask(client_of()).text == "Press it."


@pytest.mark.parametrize("turn", [hangs, drips, drips_body], ids=lambda turn: turn.__name__)
def test_a_server_that_hangs_or_drips_is_left_when_the_time_is_over(server, client_of, turn):
    """However slowly bytes come: the limit holds for the whole call."""
    server.script(turn)
    started = time.monotonic()
    error = failure(client_of(total_seconds=0.4, idle_seconds=60.0))
    assert error.failure is LlmFailure.TIMEOUT
    assert time.monotonic() - started < FAR


def test_silence_is_noticed_before_the_whole_time_is_over(server, client_of):
    server.script(hangs)
    error = failure(client_of(total_seconds=60.0, idle_seconds=0.2))
    assert (error.failure, "silent" in error.problem) == (LlmFailure.TIMEOUT, True)


def test_a_server_that_accepts_nothing_is_out_of_reach(client_of):
    """A full backlog: the connection never stands."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        blockers = [socket.socket() for _ in range(4)]
        for blocker in blockers:
            blocker.setblocking(False)
            blocker.connect_ex(listening.getsockname())
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        error = failure(client_of(base_url=url, connect_seconds=0.2))
        for blocker in blockers:
            blocker.close()
    assert error.failure in {LlmFailure.UNREACHABLE, LlmFailure.TIMEOUT}


def test_nobody_listening_is_out_of_reach(client_of):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    error = failure(client_of(base_url=f"http://127.0.0.1:{port}/v1"))
    assert (error.failure, error.next_step) == (LlmFailure.UNREACHABLE, "Is it running?")


def test_while_one_call_hangs_another_is_answered(server, client_of):
    server.script(hangs, says("Quick."))
    client = client_of()
    slow = threading.Thread(target=lambda: failure(client), daemon=True)
    slow.start()
    assert server.arrived.acquire(timeout=FAR)
    assert ask(client).text == "Quick."
    assert slow.is_alive()
    server.closing.set()
    slow.join(FAR)


def test_the_models_on_offer_are_listed(server, client_of):
    assert client_of().models() == ("small",)
    server.get = fails(401, "bad key")
    with pytest.raises(LlmError, match="401"):
        client_of().models()
    server.get = replies({"object": "something else"})
    assert client_of().models() == ()


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://ollama:11434/v1", False),
        ("http://192.168.1.4/v1", False),
        ("https://api.example/v1", False),
        ("https://localhost.evil.example/v1", False),
        ("https://127.0.0.1.evil.example/v1", False),
    ],
)
def test_only_this_machine_is_local(url, local):
    assert Endpoint(url, "m").is_local is local


def test_a_request_is_plain_json(server, client_of):
    server.script(says("好。"))
    client_of().complete(({"role": "user", "content": "如何重置？"},), answer_tokens=5)
    assert json.dumps(server.requests[0], ensure_ascii=False).count("如何重置") == 1
