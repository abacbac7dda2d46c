"""What the doctor finds in Slack, and the manifest that sets it up."""

import re
from pathlib import Path

import pytest
import yaml

from bot.chat import slack_bolt, slack_check, slack_commands
from bot.chat.slack_check import SCOPES, check
from tests.fakes import slack_api
from tests.fakes.core import FakeCore
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_faults import Fault
from tests.fakes.slack_running import options_for, running

ROOT = Path(__file__).parents[3]
MANIFEST = yaml.safe_load((ROOT / "deploy" / "slack-manifest.yaml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def wrong(findings):
    return {finding.subject: finding for finding in findings if not finding.good}


async def test_a_good_set_up_has_no_finding_that_is_wrong():
    async with FakeSlack() as slack:
        findings = await check(options_for(slack), ["C1"])
        assert wrong(findings) == {}
        assert [finding.subject for finding in findings] == [
            "SLACK_BOT_TOKEN",
            "scopes",
            "channel C1",
            "SLACK_APP_TOKEN",
        ]


@pytest.mark.parametrize(
    ("options", "subject", "click"),
    [
        ({"bot_token": "xoxb-wrong"}, "SLACK_BOT_TOKEN", "Install to Workspace"),
        ({"app_token": "xapp-wrong"}, "SLACK_APP_TOKEN", "connections:write"),
        ({"app_token": ""}, "SLACK_APP_TOKEN", "App-Level Tokens"),
        ({"mode": "http", "signing_secret": " "}, "SLACK_SIGNING_SECRET", "Signing Secret"),
    ],
)
async def test_a_missing_or_wrong_secret_is_named_with_the_click(options, subject, click):
    async with FakeSlack() as slack:
        found = wrong(await check(options_for(slack, **options)))
        assert click in found[subject].next_step
        assert not any(value in str(found) for value in ("xoxb-wrong", "xapp-wrong"))


async def test_each_missing_scope_is_named_with_what_is_lost():
    async with FakeSlack() as slack:
        slack.scopes = slack.scopes.replace("users:read", "users.profile:read")
        found = wrong(await check(options_for(slack)))
        assert list(found) == ["scope users:read"]
        assert "other organisations" in found["scope users:read"].text
        assert "Reinstall" in found["scope users:read"].next_step


@pytest.mark.parametrize(
    ("facts", "click"),
    [
        ({"bot_inside": False}, "/invite @Gaplight"),
        ({"bot_inside": False, "kind": "group"}, "/invite @Gaplight"),
        ({"archived": True}, "Unarchive"),
    ],
)
async def test_a_channel_that_cannot_be_posted_in_is_named_with_the_click(facts, click):
    async with FakeSlack() as slack:
        slack.channel("C5", "gaps", **facts)
        found = wrong(await check(options_for(slack), ["C5"]))
        assert click in found["channel C5"].next_step


async def test_a_channel_that_does_not_exist_is_no_crash():
    async with FakeSlack() as slack:
        found = wrong(await check(options_for(slack), ["#docs-gaps"]))
        assert "id" in found["channel #docs-gaps"].next_step


async def test_a_bot_token_that_fails_hides_what_depends_on_it():
    async with FakeSlack() as slack:
        findings = await check(options_for(slack, bot_token="xoxb-wrong"), ["C1"])
        assert [finding.subject for finding in findings] == ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"]


async def test_slack_out_of_reach_is_told_apart_from_a_wrong_token(monkeypatch):
    monkeypatch.setattr(slack_check, "_PATIENCE", slack_check.CallOptions(patience=0.1, first_pause=0.01))
    async with FakeSlack() as slack:
        slack.faults.plan("auth.test", *[Fault("500")] * 20)
        found = wrong(await check(options_for(slack)))
        assert "status.slack.com" in found["SLACK_BOT_TOKEN"].next_step


def test_the_manifest_asks_for_the_scopes_that_are_checked_and_no_more():
    assert sorted(MANIFEST["oauth_config"]["scopes"]["bot"]) == sorted(SCOPES)
    assert sorted(slack_api.SCOPES.split(",")) == sorted(SCOPES)


def test_the_manifest_subscribes_to_every_event_that_is_handled():
    events = {name.partition(".")[0] for name in MANIFEST["settings"]["event_subscriptions"]["bot_events"]}
    assert events == set(slack_bolt.EVENTS)


async def test_every_event_of_the_manifest_has_a_handler_and_others_are_acknowledged(caplog):
    caplog.set_level("INFO")
    async with running(FakeCore()) as (slack, _, _):
        item = {"type": "message", "channel": "C1", "ts": "1.0"}
        thread = {"user_id": "U1", "channel_id": "DU1", "thread_ts": "1.0", "context": {}}
        for name in slack_bolt.EVENTS:
            event = {"type": name, "user": "U1", "channel": "C1", "item": item, "assistant_thread": thread}
            await slack.send_event(event)
        assert "not listened for" not in caplog.text
        await slack.send_event({"type": "team_rename", "name": "New"})
        assert "team_rename, which is not listened for" in caplog.text


def test_the_manifest_holds_the_command_and_the_shortcuts():
    features = MANIFEST["features"]
    assert [one["command"] for one in features["slash_commands"]] == [slack_commands.COMMAND]
    assert [one["callback_id"] for one in features["shortcuts"]] == [
        slack_bolt.ASK_SHORTCUT,
        slack_bolt.ANSWER_SHORTCUT,
    ]
    assert features["app_home"]["home_tab_enabled"]
    assert not features["app_home"]["messages_tab_read_only_enabled"]
    assert MANIFEST["settings"]["interactivity"]["is_enabled"]
    assert MANIFEST["settings"]["socket_mode_enabled"]


def test_every_method_that_is_called_has_its_scope_in_the_manifest():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bot" / "chat").glob("slack_*.py"))
    methods = set(
        re.findall(r'"((?:chat|conversations|reactions|usergroups|users|assistant|views|auth|apps)\.[\w.]+)"', code)
    )
    needed = {method: slack_api.NEEDED[method] for method in methods if method in slack_api.NEEDED}
    assert set(needed) == set(slack_api.NEEDED)
    assert all(scopes & set(SCOPES) for scopes in needed.values())
    without_scope = {"apps.connections.open", "auth.test", "chat.getPermalink", "views.open", "views.publish"}
    assert methods - set(needed) == without_scope
