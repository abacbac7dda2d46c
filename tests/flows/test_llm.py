"""A question with a language model, from the settings to the gap log: over HTTP, against a scripted server."""

from __future__ import annotations

import json
import threading

import pytest

from bot.app import App
from bot.checks import Verdict, examine
from bot.cli import app as commands
from bot.settings import Settings
from store.records import AbstainReason, Question, Rule, Status, Visibility
from store.sources import IngestRequest
from tests.fakes.http_server import drips, hangs, replies
from tests.fakes.llm import LlmServer, fails, grades, says

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
    "expenses.md": "# Expenses\n\nHand in receipts for a business trip within ten days.\n",
}
ANSWERABLE = "How do I reset the VPN client?"
UNANSWERABLE = "Where do I park my bicycle?"
GOOD = "Press the blue button and sign in again [1]."
FAR = 60.0


@pytest.fixture
def server():
    server = LlmServer()
    yield server
    server.close()


@pytest.fixture
def make(tmp_path, minilm, server, monkeypatch):
    monkeypatch.delenv("LLM_API_KEY", raising=False)
    apps = []

    def made(*, mode="generative", gate=None, visibility=Visibility.PUBLIC, **llm):
        chosen = {"base_url": server.base_url, "model": "small", "retries": 0, "total_seconds": 10} | llm
        settings = Settings(data=tmp_path / "data", answer={"mode": mode}, gate=gate or {}, llm=chosen)
        app = App(settings)
        app.index.embedder = minilm
        docs = tmp_path / "docs"
        docs.mkdir(exist_ok=True)
        for name, text in DOCS.items():
            (docs / name).write_text(text, encoding="utf-8")
        app.ingestor.run(IngestRequest(paths=(docs,), visibility=visibility))
        apps.append(app)
        return app

    yield made
    for app in apps:
        app.close()


def ask(app, question=ANSWERABLE, **fields):
    return app.engine.ask(Question(question, asker="cli:me", **fields))


def gaps(app):
    return [gap.question for gap in app.gaps.list()]


def test_a_generated_answer_is_checked_cited_logged_and_no_gap(make, server):
    server.script(says(f"{GOOD} Cats nap [9]."))
    app = make()
    reply = ask(app)
    assert (reply.status, reply.reason, reply.gap) == (Status.ANSWERED, None, None)
    assert reply.answer == GOOD
    assert [(one.number, one.document, one.section) for one in reply.citations] == [(1, "vpn.md", "Reset")]
    assert reply.citations[0].quote in DOCS["vpn.md"]
    assert "Removed 1 citation(s) without a source: [9]" in reply.notes
    assert set(reply.timings_ms) >= {"embed", "search", "gate", "answer", "total"}
    assert app.questions.get(reply.question_id).answer == GOOD


def test_what_the_gate_refuses_is_not_sent_anywhere(make, server):
    reply = ask(make(grading=True), UNANSWERABLE)
    assert (reply.status, server.requests) == (Status.ABSTAINED, [])


def test_without_a_setting_nothing_is_sent_anywhere(make, server):
    reply = ask(make(mode="extractive"))
    assert (reply.status, server.requests) == (Status.ANSWERED, [])


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (hangs, "timeout"),
        (drips, "timeout"),
        (fails(503), "overloaded"),
        (fails(400), "refused"),
        (replies(b"<html>no</html>"), "garbage"),
        (says('{"thoughts": "..."}'), "garbage"),
        (says(None), "empty"),
        (says("<think>hm</think>"), "empty"),
        (says("Press", finish="length"), "cut_off"),
    ],
)
def test_when_the_model_fails_the_documents_are_quoted_and_that_is_no_gap(make, server, turn, kind):
    """An answer with sources, marked as an error of the model."""
    server.script(turn)
    app = make(total_seconds=0.4 if kind == "timeout" else 10)
    reply = ask(app)
    assert (reply.status, reply.reason, reply.gap) == (Status.ANSWERED, None, None)
    assert reply.answer.endswith("press the blue button and sign in again. [1]")
    assert reply.citations[0].document == "vpn.md"
    assert any(note.startswith(f"LLM error ({kind}): ") for note in reply.notes)
    assert gaps(app) == []


def test_without_anybody_at_the_address_the_documents_are_quoted(make):
    reply = ask(make(base_url="http://127.0.0.1:9/v1", grading=True))
    assert reply.answer.endswith("press the blue button and sign in again. [1]")
    assert [note.partition(":")[0] for note in reply.notes if "LLM error" in note] == [
        "Not graded, LLM error (unreachable)",
        "LLM error (unreachable)",
    ]


def test_while_the_model_hangs_others_are_answered(make, server):
    server.script(hangs)
    app = make()
    assert app.engine
    slow = threading.Thread(target=lambda: ask(app), daemon=True)
    slow.start()
    assert server.arrived.acquire(timeout=FAR)
    assert ask(app, UNANSWERABLE).status is Status.ABSTAINED
    assert ask(app, "thanks!").status is Status.SMALLTALK
    server.script(says(GOOD))
    assert ask(app).answer == GOOD
    assert slow.is_alive()
    server.closing.set()
    slow.join(FAR)


def test_after_failures_in_a_row_answers_come_without_asking(make, server):
    server.script(*[fails(503)] * 2)
    app = make(breaker_failures=2, breaker_seconds=600)
    replies_ = [ask(app) for _ in range(4)]
    assert {reply.status for reply in replies_} == {Status.ANSWERED}
    assert len(server.requests) == 2
    assert any("circuit_open" in note for note in replies_[-1].notes)


def test_an_unsupported_answer_is_refused_with_its_reason_and_says_nothing_of_the_documents(make, server):
    server.script(says("Cats sleep for most of the day [1]."))
    app = make()
    reply = ask(app)
    assert (reply.status, reply.reason) == (Status.ABSTAINED, AbstainReason.UNSUPPORTED_CITATION)
    assert "its sources do not support it" in reply.answer
    assert "Cats" not in reply.answer
    assert gaps(app) == []


def test_an_answer_without_any_ground_is_refused_as_such(make, server):
    server.script(says("Cats sleep for most of the day."))
    assert ask(make()).reason is AbstainReason.UNGROUNDED_ANSWER


@pytest.mark.parametrize(("mode", "reason"), [("shadow", AbstainReason.UNSUPPORTED_CITATION), ("off", None)])
def test_where_nothing_is_refused_an_unsupported_answer_is_replaced_by_quotations(make, server, mode, reason):
    server.script(says("Cats sleep for most of the day [1]."))
    reply = ask(make(gate={"mode": mode}))
    assert (reply.status, reply.reason) == (Status.ANSWERED, reason)
    assert "press the blue button" in reply.answer


def test_a_generated_answer_that_admits_a_lack_opens_a_gap(make, server):
    """Its own words count for the rules, quotations do not."""
    server.script(says(f"{GOOD} The documents do not say anything about the old client."))
    app = make()
    reply = ask(app)
    assert reply.status is Status.ANSWERED
    assert Rule.WEAK_ANSWER_LANGUAGE in reply.rules
    assert gaps(app) == [ANSWERABLE]


@pytest.mark.parametrize(("relevant", "documents"), [([1, 2, 3, 4], 4), ([1], 1)])
def test_the_answer_is_written_from_the_passages_that_were_graded_relevant(make, server, relevant, documents):
    server.script(grades(relevant), says(GOOD))
    reply = ask(make(grading=True))
    assert reply.answer == GOOD
    assert server.prompt(0).count("<source number=") == 4
    assert server.prompt(1).count("<source number=") == documents
    assert len(reply.passages) == 4, "what was retrieved is reported as it was"
    assert "grade" in reply.timings_ms


def test_grading_works_for_quoted_answers_too(make, server):
    server.script(grades([2]))
    reply = ask(make(mode="extractive", grading=True))
    assert [one.document for one in reply.citations] == [reply.passages[1].document]


def test_when_no_passage_is_relevant_other_words_are_searched_once(make, server):
    server.script(grades([], "mailbox quota"), grades([1]), says("The mailbox quota is 5 GB [1]."))
    reply = ask(make(grading=True))
    assert (reply.status, reply.citations[0].document) == (Status.ANSWERED, "mail.md")
    assert reply.question == ANSWERABLE
    assert "Found in other words: mailbox quota" in reply.notes
    assert len(server.requests) == 3


def test_when_other_words_find_nothing_relevant_either_the_question_is_a_gap(make, server):
    server.script(grades([], "mailbox quota"), grades([], "and again"))
    app = make(grading=True)
    reply = ask(app)
    assert (reply.status, reply.reason) == (Status.ABSTAINED, AbstainReason.INSUFFICIENT_EVIDENCE)
    assert gaps(app) == [ANSWERABLE]
    assert len(server.requests) == 2


@pytest.mark.parametrize("turn", [hangs, fails(503), says("all of them"), says('{"relevant": [99]}')])
def test_without_grades_the_answer_is_written_from_all_passages(make, server, turn):
    server.script(turn, says(GOOD))
    app = make(grading=True, total_seconds=0.4 if turn is hangs else 10)
    reply = ask(app)
    assert (reply.answer, reply.gap) == (GOOD, None)
    assert any(note.startswith("Not graded, LLM error (") for note in reply.notes)


def test_private_passages_go_to_a_model_on_this_machine(make, server):
    server.script(says(GOOD))
    assert ask(make(visibility=Visibility.PRIVATE), collections=("default",)).answer == GOOD


def test_private_passages_go_to_no_other_machine(make):
    reply = ask(make(visibility=Visibility.PRIVATE, base_url="http://llm.invalid/v1"), collections=("default",))
    assert "press the blue button" in reply.answer
    assert any("withheld" in note for note in reply.notes)


def test_another_model_is_another_policy_but_an_unused_one_is_not(make):
    quoted = make(mode="extractive").policy.version
    assert make(mode="extractive", model="large").policy.version == quoted
    generated = make().policy.version
    assert len({quoted, generated, make(model="large").policy.version, make(grading=True).policy.version}) == 4
    assert make(total_seconds=9).policy.version == generated


def llm_check(app):
    return next((finding for finding in examine(app) if finding.check == "llm"), None)


def test_the_doctor_asks_the_endpoint_for_its_model(make, server, monkeypatch):
    assert llm_check(make(mode="extractive")) is None
    good = llm_check(make())
    assert (good.verdict, good.advice) == (Verdict.OK, "")
    other = llm_check(make(model="large"))
    assert (other.verdict, "offers small" in other.text, other.advice) == (Verdict.WARNING, True, "Correct llm.model.")
    server.get = fails(401, "bad key")
    refused = llm_check(make())
    assert (refused.verdict, refused.advice) == (Verdict.FAILED, "Check LLM_API_KEY.")
    down = llm_check(make(base_url="http://127.0.0.1:9/v1"))
    assert (down.verdict, "cannot be reached" in down.text) == (Verdict.FAILED, True)


def test_the_key_comes_from_the_environment_and_is_shown_nowhere(make, server, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "hunter2")
    server.script(says(GOOD))
    app = make()
    reply = ask(app)
    assert server.headers[-1]["Authorization"] == "Bearer hunter2"
    assert "hunter2" not in f"{reply} {app.settings} {list(examine(app))}"


def test_the_command_line_asks_the_model_too(tmp_path, server, model_cache):
    from typer.testing import CliRunner

    (tmp_path / "docs").mkdir()
    for name, text in DOCS.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    config = tmp_path / "gaplight.toml"
    config.write_text(
        f"[embedding]\ncache = '{model_cache}'\n[answer]\nmode = 'generative'\n"
        f"[llm]\nbase_url = '{server.base_url}'\nmodel = 'small'\n"
    )
    start = ["--config", str(config), "--data", str(tmp_path / "data")]
    server.script(says(GOOD))
    assert CliRunner().invoke(commands, [*start, "ingest", str(tmp_path / "docs")]).exit_code == 0
    done = CliRunner().invoke(commands, [*start, "ask", ANSWERABLE, "--json"])
    reply = json.loads(done.stdout)
    assert (done.exit_code, reply["answer"], reply["citations"][0]["document"]) == (0, GOOD, "vpn.md")
