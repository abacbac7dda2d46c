"""The loop at the command line: discover, decide, verify; what is printed and what the exit code says."""

from __future__ import annotations

import json

import pytest

from tests.bot.cli.test_commands import run
from tests.discovery.loop_texts import BICYCLE_QUESTION, HANDBOOK, KEY_GUIDE, KEY_QUESTION, OFF_TOPIC
from tests.fakes.github import TOKEN, FakeGithub


@pytest.fixture(scope="module")
def home(tmp_path_factory, model_cache):
    """A folder with a handbook, a wiki beside it, and two gaps: one that the wiki answers, and one that it does not."""
    folder = tmp_path_factory.mktemp("home")
    for place, texts in (("docs", HANDBOOK), ("wiki", {"keys.md": KEY_GUIDE, "garden.md": OFF_TOPIC})):
        (folder / place).mkdir()
        for name, text in texts.items():
            (folder / place / name).write_text(text)
    (folder / "gaplight.toml").write_text('[discovery]\nfolders = ["wiki"]\n')
    assert run(folder, model_cache, "ingest", "docs").returncode == 0
    for question in (KEY_QUESTION, BICYCLE_QUESTION):
        assert json.loads(run(folder, model_cache, "ask", question, "--json").stdout)["gap"]
    return folder


@pytest.fixture
def gaplight(home, model_cache):
    return lambda *words, **options: run(home, model_cache, *words, **options)


def test_a_gap_is_closed_from_the_command_line(gaplight):
    found = gaplight("discover", "--json")
    assert found.returncode == 0, found.stderr
    topics = {topic["label"]: topic for topic in json.loads(found.stdout)["topics"]}
    assert len(topics) == 2
    (candidate,) = [one for topic in topics.values() for one in topic["candidates"]]
    assert candidate["source"]["location"] == "wiki/keys.md"
    assert candidate["source"]["licence"] == "internal"
    assert (candidate["preview"]["asked"], candidate["preview"]["answered"]) == (1, 1)

    listed = gaplight("candidates", "list")
    assert candidate["id"] in listed.stdout
    shown = gaplight("candidates", "show", candidate["id"][:6])
    assert "Would answer 1 of 1 questions" in shown.stdout
    assert "billing keys rotate" in shown.stdout
    again = json.loads(gaplight("candidates", "preview", candidate["id"], "--json").stdout)
    assert again["preview"] == candidate["preview"]

    approved = gaplight("candidates", "approve", candidate["id"], "--json")
    assert approved.returncode == 0, approved.stderr
    outcome = json.loads(approved.stdout)
    assert outcome["candidate"]["state"] == "ingested"
    assert outcome["candidate"]["decided_by"].startswith("cli:")
    assert [gap["closed"] for gap in outcome["gaps"]] == [True]
    assert outcome["gaps"][0]["before"] < outcome["gaps"][0]["after"]
    reply = json.loads(gaplight("ask", KEY_QUESTION, "--json", "--no-log").stdout)
    assert [one["document"] for one in reply["citations"]] == ["wiki/keys.md"]

    second = gaplight("candidates", "reject", candidate["id"])
    assert second.returncode == 1
    assert "already ingested by cli:" in second.stderr

    verified = gaplight("verify", "--json")
    assert verified.returncode == 0
    result = json.loads(verified.stdout)
    assert (result["kept"], result["reopened"], result["closed"]) == (1, [], 0)
    assert [gap["question"] for gap in result["gaps"]] == [BICYCLE_QUESTION]


def test_a_named_gap_that_is_not_answered_gives_exit_code_three(gaplight):
    gaps = json.loads(gaplight("gaps", "list", "--json").stdout)
    bicycle = next(gap["id"] for gap in gaps if gap["question"] == BICYCLE_QUESTION)
    done = gaplight("verify", bicycle)
    assert done.returncode == 3
    assert "open" in done.stdout
    assert gaplight("verify", "ffff").returncode == 1


def test_a_source_that_does_not_help_gives_exit_code_three(home, model_cache, tmp_path):
    """Over a fake GitHub, with a data folder of its own."""
    github = FakeGithub()
    try:
        github.add("acme/handbook", {"docs/bicycle.md": "# Bicycle park\n\nA bicycle has two wheels and a bell.\n"})
        variables = {
            "GAPLIGHT_GITHUB__API_URL": github.url,
            "GAPLIGHT_DISCOVERY__FINDERS": '["github"]',
            "GAPLIGHT_DISCOVERY__ORGANISATIONS": '["acme"]',
            "GITHUB_TOKEN": TOKEN,
        }
        data = ("--data", str(tmp_path / "data"))

        def gaplight(*words):
            return run(home, model_cache, *data, *words, **variables)

        assert gaplight("ingest", "docs").returncode == 0
        assert json.loads(gaplight("ask", BICYCLE_QUESTION, "--json").stdout)["gap"]
        found = json.loads(gaplight("discover", "--json").stdout)
        (candidate,) = found["topics"][0]["candidates"]
        assert candidate["source"]["location"] == "acme/handbook:docs/bicycle.md"
        assert candidate["preview"]["answered"] == 0
        approved = gaplight("candidates", "approve", candidate["id"])
        assert approved.returncode == 3, approved.stderr
        assert "0 of 1 gaps are closed" in approved.stdout
        github.limit("search", 0)
        github.limit("code_search", 0)
        limited = gaplight("discover", "--json")
        assert limited.returncode == 3
        assert json.loads(limited.stdout)["topics"][0]["retry_at"]
    finally:
        github.close()


def test_snoozing_and_rejecting_need_no_index(gaplight):
    listed = json.loads(gaplight("candidates", "list", "--all", "--json").stdout)
    assert gaplight("candidates", "snooze", listed[0]["id"]).returncode == 1
    assert gaplight("candidates", "snooze", "ffffff").returncode == 1
    assert "no candidate 'ffffff'" in gaplight("candidates", "reject", "ffffff").stderr


def test_without_a_place_to_look_the_setting_is_named(gaplight):
    done = gaplight("discover", GAPLIGHT_DISCOVERY__FOLDERS="[]")
    assert done.returncode == 2
    assert "discovery.folders" in done.stderr


def test_an_unknown_topic_is_named(gaplight):
    done = gaplight("discover", "--topic", "zzz")
    assert done.returncode == 1
    assert "'zzz'" in done.stderr
