"""Who sees what: each role asks in each place for what only few may read, and every surface is looked at afterwards."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app as cli
from store.errors import GaplightError
from store.records import Visibility
from tests.fakes.access_world import (
    HIDDEN_CHANNEL,
    PEOPLE,
    QUESTION,
    SECRETS,
    asked_on_discord,
    asked_on_slack,
    opened,
    settings_for,
)

NOTHING, ALONE, OPENLY = "nothing", "alone", "openly"

READERS = ("reader", "reader by group")
STRANGERS = ("guest", "outsider")
SLACK = {
    # What members and admins see: a private collection is open in its channel alone.
    **{(role, "private channel"): OPENLY for role in ("member", "admin", *READERS)},
    **{
        (role, place): NOTHING
        for role in ("member", "admin")
        for place in ("public channel", "follow-up in a thread", "channel of that name",
                      "direct message", "command")
    },
    # Readers see it wherever they ask, and nobody else does.
    **{
        (role, place): ALONE
        for role in READERS
        for place in ("public channel", "follow-up in a thread", "channel of that name",
                      "direct message", "command")
    },
    **{
        (role, place): NOTHING
        for role in STRANGERS
        for place in ("public channel", "channel of that name", "private channel",
                      "direct message", "command")
    },
}  # fmt: skip
DISCORD = {
    **{(role, "private channel"): OPENLY for role in ("member", "admin", "reader", "reader by role")},
    **{
        (role, place): NOTHING
        for role in ("member", "admin")
        for place in ("public channel", "follow-up in a thread", "channel of that name", "direct message", "command")
    },
    **{
        (role, place): ALONE
        for role in ("reader", "reader by role")  # whose answers are in direct messages, so that no thread is opened
        for place in ("public channel", "channel of that name", "direct message", "command")
    },
    ("outsider", "direct message"): NOTHING,
}


@pytest.fixture(scope="module")
def slack(tmp_path_factory, model_cache):
    folder = tmp_path_factory.mktemp("slack")
    settings = settings_for(
        folder,
        model_cache,
        ["slack:UREAD", "slack:SREAD"],
        channels={
            HIDDEN_CHANNEL: {"collections": ["default", "hr"]},
            "hr-by-name": {"collections": ["default", "hr"]},
        },
        admins={"slack": ["UADM"]},
    )
    world = opened(folder, settings)
    log, level = Remembering(), logging.root.level
    logging.root.addHandler(log)
    logging.root.setLevel(logging.INFO)
    try:
        asyncio.run(asked_on_slack(world))
    finally:
        logging.root.setLevel(level)
        logging.root.removeHandler(log)
        world.app.close()
    world.facts["log"] = "\n".join(log.lines)
    return world


class Remembering(logging.Handler):
    """Keeps what a running bot would log, tracebacks included."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.lines = []

    def emit(self, record):
        self.lines.append(logging.Formatter("%(name)s: %(message)s").format(record))


@pytest.fixture(scope="module")
def discord(tmp_path_factory, model_cache):
    return asyncio.run(asked_on_discord(tmp_path_factory.mktemp("discord"), model_cache))


def holds(text):
    return any(secret in text for secret in SECRETS)


def found(seen):
    return OPENLY if holds(seen.openly) else ALONE if holds(seen.alone) else NOTHING


def named(table):
    return [pytest.param(role, place, expected, id=f"{role}-{place}") for (role, place), expected in table.items()]


@pytest.mark.parametrize(("role", "place", "expected"), named(SLACK))
def test_on_slack(slack, role, place, expected):
    assert found(slack.seen[role, place]) == expected


@pytest.mark.parametrize(("role", "place", "expected"), named(DISCORD))
def test_on_discord(discord, role, place, expected):
    assert found(discord.seen[role, place]) == expected


@pytest.mark.parametrize(("platform", "proven"), [("Slack", SLACK), ("Discord", DISCORD)])
def test_the_security_guide_has_the_same_tables(platform, proven):
    text = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    table = text[text.index(f"| on {platform} |") :].partition("\n\n")[0]
    (_, *places), _, *rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
    told = {(role, place): said for role, *cells in rows for place, said in zip(places, cells, strict=True)}
    assert {key: said for key, said in told.items() if said != "–"} == proven


def test_the_tables_leave_no_role_and_place_out(slack, discord):
    assert set(slack.seen) - set(SLACK) == {(role, "follow-up in a thread") for role in STRANGERS}
    assert set(discord.seen) == set(DISCORD)


@pytest.mark.parametrize(("role", "place"), itertools.product(STRANGERS, ["public channel", "direct message"]))
def test_strangers_are_told_why_they_get_nothing(slack, role, place):
    seen = slack.seen[role, place]
    assert "belong to this organisation" in seen.openly + seen.alone


LATER = [
    ("gaps", "list"),
    ("gaps", "list", "--all", "--json"),
    ("gaps", "export", "--all", "--format", "csv"),
    ("gaps", "export", "--all", "--format", "jsonl"),
    ("gaps", "export", "--all", "--format", "md"),
    ("topics",),
    ("topics", "--json"),
    ("topics", "--now", "--json"),
    ("digest",),
    ("digest", "--json"),
    ("candidates", "list", "--all"),
    ("candidates", "list", "--all", "--json"),
    ("audit",),
    ("audit", "--json"),
    ("stats", "--json"),
]


@pytest.fixture(scope="module")
def command(slack, tmp_path_factory):
    """The command line on what chat has left behind; what was shown on either stream, with the exit code."""
    config = tmp_path_factory.mktemp("config") / "gaplight.toml"
    cache = slack.settings.embedding.cache
    config.write_text(f'[embedding]\ncache = "{cache}"\n', encoding="utf-8")

    def run(*words):
        given = ["--config", str(config), "--data", str(slack.settings.data), *words]
        done = CliRunner().invoke(cli, given)
        if isinstance(done.exception, GaplightError):
            return str(done.exception), done.exception.exit_code
        return done.output, done.exit_code

    return run


def hidden_words(world):
    gap = world.facts["hidden"]
    return (*SECRETS, "saunaplan", "Zephyrion", "Ms Miller", gap.id, gap.id[:8])


def told(world, text):
    return [word for word in hidden_words(world) if word in text]


SURFACES = [
    "digest as Markdown",
    "digest as HTML",
    "digest as cards",
    "chart",
    "home pages",
    "notices",
    "what closed a gap",
    "question passed on elsewhere",
    "private source by command",
    *(f"refusal for {user}" for user in ("UPUB", "UOUT", "UADM")),
    *(f"{word} for the {role}" for word in ("gaps", "digest", "status", "candidates") for role in PEOPLE),
]


@pytest.mark.parametrize("surface", SURFACES)
def test_nothing_private_is_shown_later(slack, surface):
    assert slack.surfaces[surface]
    assert told(slack, slack.surfaces[surface]) == []


@pytest.mark.parametrize("words", LATER, ids=" ".join)
def test_no_command_shows_what_is_private_unless_it_is_asked_to(slack, command, words):
    shown, code = command(*words)
    assert code == 0, shown
    assert told(slack, shown) == []


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("gaps", "list", "--json"), "Zephyrion"),
        (("gaps", "export", "--format", "md"), "Zephyrion"),
        (("candidates", "list", "--json"), "Zephyrion"),
        (("topics", "--now", "--json"), "{hidden}"),
    ],
    ids=str,
)
def test_what_is_private_is_shown_on_an_explicit_wish(slack, command, words, shown):
    text, _ = command(*words, "--include-private")
    assert shown.format(hidden=slack.facts["hidden"].id) in text


def test_single_private_things_need_the_wish_as_well(slack, command):
    gap, source = slack.facts["hidden"], slack.facts["private candidate"]
    assert told(slack, command("gaps", "show", gap.id)[0].replace(gap.id, "").replace(gap.id[:8], "")) == []
    assert "Zephyrion" in command("gaps", "show", gap.id, "--include-private")[0]
    refused, code = command("candidates", "show", source)
    assert (told(slack, refused), code) == ([], 2)
    assert "Zephyrion" in command("candidates", "show", source, "--include-private")[0]


def test_a_question_that_everybody_may_see_quotes_no_private_passage(slack):
    gap = slack.facts["near"]
    assert gap.visibility is Visibility.PUBLIC
    assert gap.nearest.document in {"vpn.md", "mail.md", "backup.md", "expenses.md"}


def test_a_digest_counts_what_it_does_not_show(slack):
    assert "private gap" in slack.surfaces["digest as Markdown"]
    assert "private gap" in slack.surfaces["gaps for the member"]


def test_who_asked_hears_of_the_answer_where_they_asked_and_nobody_else(slack):
    assert slack.facts["closed"]
    assert slack.facts["told"] == {("slack:UREAD", "DUREAD")}


def test_strangers_have_no_page_and_no_commands(slack):
    assert slack.facts["homes"] == {PEOPLE[role] for role in PEOPLE if role not in STRANGERS}
    for role, word in itertools.product(STRANGERS, ("gaps", "digest", "status", "candidates")):
        assert "belong to this organisation" in slack.surfaces[f"{word} for the {role}"]


def test_the_audit_log_says_who_decided_and_who_was_refused_where_and_as_what(slack, command):
    entries = json.loads(command("audit", "--json")[0])
    known = {(one["action"], one["by"], one["place"], one["role"]) for one in entries}
    assert ("refused_approve", "slack:UPUB", "slack:C1", "member") in known
    assert ("refused_approve", "slack:UOUT", "slack:C1", "outsider") in known
    assert ("refused_approve", "slack:UADM", "slack:C1", "private source") in known
    assert ("candidate.snooze", "slack:UADM", "slack:C1", "slack:UADM") in known
    refused = json.loads(command("audit", "--refused", "--json")[0])
    assert {one["action"] for one in refused} == {"refused_approve"}
    assert command("gaps", "ignore", slack.facts["shown"].id)[1] == 0
    latest = json.loads(command("audit", "--json", "--limit", "1")[0])[0]
    assert (latest["action"], latest["place"], latest["role"]) == ("gap.ignored", "command line", "operator")
    assert latest["by"].startswith("cli:")


def test_a_probe_measures_and_quotes_what_everybody_may_read(slack, command, tmp_path):
    questions = tmp_path / "questions.csv"
    questions.write_text(f"question\n{QUESTION}\nHow do I reset the VPN client?\n", encoding="utf-8")
    shown, code = command("probe", str(questions), "--report", str(tmp_path / "report"), "--json")
    report = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "report").iterdir())
    assert (code, told(slack, shown + report)) == (0, [])
    assert "1 private collections were left out" in shown
    assert "bandplan" in command("probe", str(questions), "--include-private", "--json")[0]


def test_logs_tell_nothing_of_what_was_asked_or_answered(slack):
    assert [line for line in slack.facts["log"].splitlines() if told(slack, line)] == []
