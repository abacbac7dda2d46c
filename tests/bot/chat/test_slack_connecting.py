"""Socket Mode and HTTP: who is let in, and what happens when a connection only looks alive."""

import asyncio
import json
import time

import pytest

from bot.chat.slack_app import SlackOptions, SlackPlatform
from bot.chat.slack_http import problem_with, signature
from bot.chat.slack_socket import crowd
from store.errors import ConfigurationError, UnavailableError
from tests.fakes.core import FakeCore
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_faults import Fault
from tests.fakes.slack_running import WATCHFUL, connected, options_for, running
from tests.fakes.slack_waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def settled(core, count=1):
    await until(lambda: len(core.delivered) >= count)


# Socket Mode


async def still_answers(slack, core):
    before = len(core.delivered)
    slack.socket.deadline = 8
    await slack.ask("C1", "U1", f"still there? {before}")
    await settled(core, before + 1)


async def test_a_connection_cut_without_a_word_is_built_anew():
    async with running(socket=WATCHFUL) as (slack, core, platform):
        await still_answers(slack, core)
        await slack.socket.drop()
        await still_answers(slack, core)
        assert platform.healthy()


async def test_a_connection_closed_politely_and_one_that_is_to_be_refreshed_are_built_anew():
    async with running(socket=WATCHFUL) as (slack, core, _):
        await slack.socket.drop(close_frame=True)
        await still_answers(slack, core)
        await slack.socket.ask_to_reconnect()
        await still_answers(slack, core)


async def test_another_process_with_the_same_token_is_told_of_once_at_the_start(caplog):
    """B022: Slack deals events out among all connections of an app token."""
    async with running(socket=WATCHFUL) as (slack, _, first):
        assert "open connections" not in caplog.text
        async with connected(slack, FakeCore(), socket=WATCHFUL) as second:
            await until(lambda: "Slack counts 2 open connections with this SLACK_APP_TOKEN" in caplog.text)
            renewed = caplog.text.count("A new session")
            await slack.socket.ask_to_reconnect()
            await until(lambda: caplog.text.count("A new session") > renewed)
            await until(lambda: first.healthy() and second.healthy())
        assert caplog.text.count("open connections") == 1


@pytest.mark.parametrize(
    ("greeting", "warns"),
    [
        ('{"type": "hello", "num_connections": 3}', True),
        ('{"type": "hello", "num_connections": 1}', False),
        ('{"type": "hello"}', False),
        ('{"type": "hello", "num_connections": null}', False),
        ('{"type": "events_api", "num_connections": 3}', False),
        ('["hello"]', False),
        ("hello", False),
        ("", False),
    ],
)
def test_only_a_greeting_that_counts_others_gives_a_warning(greeting, warns):
    assert bool(crowd(greeting)) is warns


async def test_no_address_to_connect_to_for_a_while_is_survived():
    async with running(socket=WATCHFUL) as (slack, core, _):
        faults = [Fault("500"), Fault("error", "internal_error"), Fault("429", 0.1), Fault("drop"), Fault("html500")]
        slack.faults.plan("apps.connections.open", *faults)
        await slack.socket.drop()
        await still_answers(slack, core)
        assert len(slack.faults.happened) == 5


async def test_a_connection_that_gives_no_sign_of_life_turns_unhealthy_and_comes_back():
    async with running(socket=WATCHFUL) as (slack, core, platform):
        slack.socket.answers_pings = slack.socket.greets = False
        await slack.socket.drop()
        slack.faults.plan("apps.connections.open", *[Fault("500")] * 30)
        await until(lambda: not platform.healthy())
        slack.faults.planned.clear()
        slack.socket.answers_pings = slack.socket.greets = True
        await until(platform.healthy)
        await still_answers(slack, core)


async def test_a_quiet_connection_stays_healthy_and_is_left_alone():
    async with running(socket=WATCHFUL) as (slack, _, platform):
        connection = slack.socket.connections[0]
        await asyncio.sleep(2 * WATCHFUL.lost)
        assert platform.healthy()
        assert slack.socket.connections == [connection]


@pytest.mark.parametrize(
    ("field", "value", "names"),
    [
        ("bot_token", "xoxb-wrong", "SLACK_BOT_TOKEN"),
        ("app_token", "xapp-wrong", "SLACK_APP_TOKEN"),
        ("app_token", "xoxb-mixed-up", "SLACK_APP_TOKEN"),
    ],
)
async def test_a_wrong_token_is_named_with_the_clicks_that_mend_it(field, value, names):
    async with FakeSlack() as slack:
        with pytest.raises(ConfigurationError, match=names) as caught:
            async with connected(slack, FakeCore(), **{field: value}):
                pass
        assert "https://api.slack.com/apps" in caught.value.next_step
        assert value not in str(caught.value)


async def test_a_persons_token_is_not_taken_for_a_bots():
    async with FakeSlack() as slack:
        slack.bot_id = ""
        with pytest.raises(ConfigurationError, match="person"):
            async with connected(slack, FakeCore()):
                pass


async def test_slack_out_of_reach_is_an_error_of_its_own():
    async with FakeSlack() as slack:
        slack.faults.plan("auth.test", Fault("500"))
        with pytest.raises(UnavailableError):
            async with connected(slack, FakeCore()):
                pass


@pytest.mark.parametrize(("mode", "names"), [("socket", "SLACK_APP_TOKEN"), ("http", "SLACK_SIGNING_SECRET")])
async def test_each_mode_says_which_secret_it_needs(mode, names):
    with pytest.raises(ConfigurationError, match=names):
        SlackPlatform(SlackOptions(bot_token="xoxb-x", mode=mode), FakeCore())


async def test_secrets_are_not_shown_with_the_options():
    shown = repr(SlackOptions(bot_token="xoxb-1", app_token="xapp-1", signing_secret="s3cret"))
    assert not any(secret in shown for secret in ("xoxb-1", "xapp-1", "s3cret"))


async def test_a_platform_that_was_not_started_answers_with_an_error():
    async with FakeSlack() as slack:
        platform = SlackPlatform(options_for(slack), FakeCore())
        assert not platform.healthy()
        with pytest.raises(UnavailableError):
            await platform.tell("C1", "Hello")
        await platform.stop()


async def test_two_connections_share_the_events_and_either_may_serve_a_click():
    one, other = FakeCore(), FakeCore()
    async with running(one) as (slack, _, _), connected(slack, other):
        for number in range(10):
            await slack.send_event(slack.write("C1", "U1", f"<@UBOT> question {number}"))
        await until(lambda: len(one.delivered) + len(other.delivered) >= 10)
        assert one.delivered
        assert other.delivered


# HTTP


def event_body(slack):
    return json.dumps(slack.event_body(slack.write("C1", "U1", "<@UBOT> how?"))).encode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"timestamp": "then-301"},
        {"timestamp": "then+301"},
        {"timestamp": "abc"},
        {"timestamp": ""},
        {"timestamp": "1e3"},
        {"timestamp": "none"},
        {"signature": "none"},
        {"signature": "v0=" + "0" * 64},
        {"signature": "v0=ümlaut"},
        {"signature": "v1=abc"},
    ],
)
async def test_a_delivery_that_is_not_rightly_signed_is_refused(wrong, caplog):
    async with running(mode="http") as (slack, core, _):
        given = dict(wrong)
        if str(given.get("timestamp", "")).startswith("then"):
            given["timestamp"] = str(int(time.time()) + int(given["timestamp"][4:]))
        status, _ = await slack.delivery.request(event_body(slack), {"Content-Type": "application/json"}, **given)
        assert status == 401
        assert "was refused" in caplog.text
        assert core.heard == []


async def test_a_clock_that_is_wrong_is_named_in_the_log(caplog):
    async with running(mode="http") as (slack, _, _):
        await slack.delivery.request(event_body(slack), timestamp=str(int(time.time()) - 301))
        assert "clock of this machine" in caplog.text


async def test_the_signature_holds_for_the_bytes_as_they_came():
    async with running(mode="http") as (slack, core, _):
        spaced = json.dumps(json.loads(event_body(slack)), indent=3).encode()
        status, _ = await slack.delivery.request(spaced, {"Content-Type": "application/json"})
        assert status == 200
        await settled(core)
        broken = event_body(slack).replace(b"how?", b"h\xffw?")
        status, _ = await slack.delivery.request(broken, {"Content-Type": "application/json"})
        assert status == 200
        await settled(core, 2)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"payload=%7B", b"\xff\xfe"])
async def test_a_signed_delivery_that_makes_no_sense_is_no_crash(body):
    async with running(mode="http") as (slack, _, _):
        for content in ("application/json", "application/x-www-form-urlencoded"):
            status, _ = await slack.delivery.request(body, {"Content-Type": content})
            assert status < 500


async def test_slack_can_check_the_address():
    async with running(mode="http") as (slack, _, _):
        body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
        status, text = await slack.delivery.request(body, {"Content-Type": "application/json"})
        assert (status, json.loads(text)) == (200, {"challenge": "abc"})
        status, _ = await slack.delivery.request(body, signature="v0=wrong")
        assert status == 401


async def test_a_delivery_before_the_start_or_at_the_end_is_for_later():
    core = FakeCore()
    async with running(core, mode="http") as (slack, _, platform):
        core.closing = True
        status, _ = await slack.delivery.request(event_body(slack), {"Content-Type": "application/json"})
        assert status == 503
        assert not platform.healthy()
        core.closing = False
        platform._door = None
        status, _ = await slack.delivery.request(event_body(slack), {"Content-Type": "application/json"})
        assert status == 503


async def test_a_retry_of_what_was_answered_is_not_answered_again():
    async with running(mode="http") as (slack, core, _):
        body = event_body(slack)
        headers = {"Content-Type": "application/json"}
        for retry in ({}, {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}):
            status, _ = await slack.delivery.request(body, headers | retry)
            assert status == 200
        await settled(core)
        assert len(slack.seen("C1", slack.channels["C1"].messages[0]["ts"])) == 1


async def test_a_retry_is_answered_when_the_first_delivery_never_arrived():
    async with running(mode="http") as (slack, core, _):
        status, _ = await slack.delivery.request(
            event_body(slack), {"Content-Type": "application/json", "X-Slack-Retry-Num": "1"}
        )
        assert status == 200
        await settled(core)


def test_a_signature_is_compared_over_raw_bytes():
    body = b"\xff{}"
    right = signature("secret", "1000", body)
    assert problem_with("secret", body, "1000", right, 1300) == ""
    assert problem_with("secret", body, "1000", right, 700) == ""
    assert "clock" in problem_with("secret", body, "1000", right, 1301)
    assert "clock" in problem_with("secret", body, "1000", right, 699)
    assert "SLACK_SIGNING_SECRET" in problem_with("other", body, "1000", right, 1000)
    assert "not signed" in problem_with("secret", body, None, right, 1000)


async def test_socket_mode_serves_nothing_over_http():
    async with FakeSlack() as slack:
        assert list(SlackPlatform(options_for(slack), FakeCore()).routes()) == []
