"""One question from text to reply: every path ends in a reply, and only what the documents lack becomes a gap."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from store.errors import ModelError, UnavailableError, UsageError
from store.records import AbstainReason, Question, Rule, Status, Turn, Visibility
from tests.fakes.installation import Installation

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
    "expenses.md": "# Expenses\n\nHand in receipts for a business trip within ten days.\n",
}
ANSWERABLE = "How do I reset the VPN client?"
UNANSWERABLE = "Where do I park my bicycle?"
SLACK_TOKEN = "xox" + "b-1-2-FAKEFAKEFAKE"


@pytest.fixture(scope="module")
def filled(tmp_path_factory, minilm):
    """Documents ingested once; tests that break something make an installation of their own."""
    installation = Installation(tmp_path_factory.mktemp("filled"), minilm)
    installation.write(DOCS)
    yield installation
    installation.close()


@pytest.fixture
def here(filled):
    with filled.database.begin() as connection:
        for table in ("gap_askers", "gap_wordings", "gaps", "votes", "questions"):
            connection.execute(text(f"DELETE FROM {table}"))
    return filled


@pytest.fixture
def own(tmp_path):
    installation = Installation(tmp_path)
    installation.write(DOCS)
    yield installation
    installation.close()


class Failing:
    """A part of which every use fails with the given error."""

    def __init__(self, error, **works):
        self._error = error
        self.__dict__.update(works)

    def __getattr__(self, name):
        def fail(*_arguments, **_options):
            raise self._error

        return fail


def ask(installation, question, *, asker="cli:me", log=True, policy=None, **fields):
    return installation.engine(**policy or {}).ask(Question(question, asker=asker, **fields), log=log)


def written(installation):
    """How many questions and gaps are recorded."""
    with installation.database.connect() as connection:
        return (
            connection.execute(text("SELECT count(*) FROM questions")).scalar_one(),
            len(installation.gaps.list()),
        )


def test_an_answer_quotes_its_document_and_opens_no_gap(here):
    reply = ask(here, ANSWERABLE)
    assert (reply.status, reply.reason, reply.gap) == (Status.ANSWERED, None, None)
    assert "press the blue button" in reply.answer
    assert reply.citations[0].document == "vpn.md"
    assert reply.citations[0].quote in DOCS["vpn.md"]
    assert set(reply.timings_ms) >= {"embed", "search", "gate", "answer", "total"}
    record = here.questions.get(reply.question_id)
    assert (record.text, record.status, record.gap_id, record.policy) == (ANSWERABLE, Status.ANSWERED, "", "test")


def test_a_refusal_opens_a_gap_that_the_question_is_linked_to(here):
    reply = ask(here, UNANSWERABLE, channel="C1", visibility=Visibility.PRIVATE)
    assert (reply.status, reply.reason) == (Status.ABSTAINED, "no_relevant_passages")
    gap = here.gaps.get(reply.gap.id)
    assert (gap.question, gap.visibility, gap.askers) == (UNANSWERABLE, Visibility.PRIVATE, 1)
    assert set(gap.reasons) == {rule.value for rule in reply.rules}
    assert [record.id for record in here.questions.of_gap(gap.id)] == [reply.question_id]


@pytest.mark.parametrize(
    "question", ["", "   ", "\n\t", "\u200b", "\u200b\u2060 \ufeff", "?", "<@UBOT>", "\x00", "\ud800"]
)
def test_what_shows_no_word_is_no_question(here, question):
    """B051: nothing visible is neither embedded nor a gap."""
    reply = ask(here, question)
    assert (reply.status, reply.reason, reply.gap) == (Status.ABSTAINED, "not_a_question", None)
    assert reply.passages == ()
    assert "embed" not in reply.timings_ms
    assert here.gaps.list() == []


@pytest.mark.parametrize("question", ["thanks!", "hi", "ok great", "👍", "lol", "danke", "谢谢"])
def test_small_talk_is_answered_without_search_and_without_gap(here, question):
    """B082."""
    reply = ask(here, question)
    assert (reply.status, reply.gap, reply.passages) == (Status.SMALLTALK, None, ())
    assert here.gaps.list() == []


def test_a_greeting_does_not_hide_a_question(here):
    """B082: the last of its inputs."""
    reply = ask(here, "hi, how do I reset the VPN client?")
    assert (reply.status, reply.citations[0].document) == (Status.ANSWERED, "vpn.md")


@pytest.mark.parametrize("question", ["what is it and how", "this?", " this? ", "hi, what is it?", "this?\u200b"])
def test_stop_words_alone_are_asked_back_and_no_gap(here, question):
    """B083: no random hit, whatever stands around the words."""
    reply = ask(here, question)
    assert (reply.status, reply.gap, reply.citations, reply.rules) == (Status.CLARIFY, None, (), ())
    assert here.gaps.list() == []


def test_an_empty_index_says_so_and_opens_no_gap(tmp_path):
    """B045: day one."""
    empty = Installation(tmp_path)
    reply = ask(empty, ANSWERABLE)
    assert (reply.status, reply.reason, reply.gap) == (Status.ABSTAINED, "empty_index", None)
    assert written(empty) == (1, 0)
    empty.close()


def test_a_huge_question_is_answered_from_its_head(here):
    reply = ask(here, f"{ANSWERABLE}\n" + "Traceback line in module xyz. " * 40_000)
    assert reply.status in {Status.ANSWERED, Status.ABSTAINED}
    assert len(here.questions.get(reply.question_id).text) <= 20_000


@pytest.mark.parametrize("error", [ModelError("gone"), UnavailableError("gone"), RuntimeError("CUDA on fire")])
def test_a_failing_embedder_ends_in_an_error_reply_and_no_gap(own, error):
    own.index.embedder = Failing(error, identity=own.embedder.identity)
    reply = ask(own, UNANSWERABLE)
    assert (reply.status, reply.reason, reply.gap) == (Status.ERROR, "unavailable", None)
    assert str(error) in reply.notes[0]
    assert written(own) == (1, 0)


def test_without_the_vector_store_words_answer_and_the_reply_says_so(own):
    own.index.vectors = Failing(UnavailableError("The vector store failed: down."))
    reply = ask(own, ANSWERABLE)
    assert reply.status is Status.ANSWERED
    assert reply.citations[0].document == "vpn.md"
    assert "The vector store failed: down." in reply.notes


def test_what_is_not_found_while_the_vector_store_fails_is_no_gap(own):
    own.index.vectors = Failing(UnavailableError("The vector store failed: down."))
    reply = ask(own, UNANSWERABLE)
    assert (reply.status, reply.gap) == (Status.ABSTAINED, None)
    assert "The vector store failed: down." in reply.notes
    assert written(own) == (1, 0)


def test_both_routes_failing_is_an_error_and_no_gap(own):
    own.index.vectors = Failing(UnavailableError("The vector store failed."))
    own.index.lexical = Failing(
        UnavailableError("The words failed."), size=4, document_frequencies=dict.fromkeys, close=lambda: None
    )
    own.index.lexical.document_frequencies = lambda stems: dict.fromkeys(stems, 1)
    reply = ask(own, ANSWERABLE)
    assert (reply.status, reply.reason, reply.gap) == (Status.ERROR, "unavailable", None)
    assert "The vector store failed. The words failed." in reply.notes[0]
    assert written(own) == (1, 0)


@pytest.mark.parametrize(("question", "status"), [(ANSWERABLE, Status.ANSWERED), (UNANSWERABLE, Status.ABSTAINED)])
def test_an_answer_is_given_even_when_it_cannot_be_logged(own, question, status):
    """B099: the note says what was lost."""
    engine = own.engine()
    assert engine.ask(Question(ANSWERABLE)).question_id
    with own.database.begin() as connection:
        connection.execute(text("DROP TABLE gap_wordings"))
        connection.execute(text("DROP TABLE questions"))
    reply = engine.ask(Question(question))
    assert (reply.status, reply.question_id) == (status, "")
    assert reply.answer
    assert reply.notes[-1].startswith("Not logged: ")


def test_a_database_that_does_not_answer_ends_in_an_error_reply(own):
    engine = own.engine()
    with own.database.begin() as connection:
        connection.execute(text("DROP TABLE chunks"))
    reply = engine.ask(Question(ANSWERABLE), log=False)
    assert (reply.status, reply.reason) == (Status.ERROR, "unavailable")


@pytest.mark.parametrize("question", [ANSWERABLE, UNANSWERABLE, "thanks!", "", "this?"])
def test_without_log_nothing_is_written(here, question):
    reply = ask(here, question, log=False)
    assert (reply.question_id, reply.gap) == ("", None)
    assert written(here) == (0, 0)


def test_secrets_are_masked_before_anything_is_written(here):
    """B086: in the question log, in gaps, in their further wordings, anywhere in the database file."""
    secret = f"why does {SLACK_TOKEN} fail for a@b.example, tel +49 30 1234567, order 1234567?"
    masked = "why does [secret] fail for [email], tel [phone], order 1234567?"
    reply = ask(here, secret)
    assert here.questions.get(reply.question_id).text == masked
    gap = here.gaps.get(reply.gap.id)
    assert gap.question == masked
    again = ask(here, f"order 1234567, tel +49 30 1234567, for a@b.example: why does {SLACK_TOKEN} fail?")
    assert again.gap.id == gap.id
    gap = here.gaps.get(gap.id)
    assert {gap.question, *(wording.text for wording in gap.additional_questions)} == {
        masked,
        "order 1234567, tel [phone], for [email]: why does [secret] fail?",
    }
    with here.database.connect() as connection:
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    stored = b"".join(path.read_bytes() for path in here.folder.glob("gaplight.db*"))
    for private in (SLACK_TOKEN, "a@b.example", "30 1234567"):
        assert private.encode() not in stored


def test_an_answer_never_stores_a_secret_of_the_documents(tmp_path):
    """B086: what is quoted from a document is shown, but not copied into the question log."""
    leaky = Installation(tmp_path)
    leaky.write({"token.md": f"# Deploy token\n\nThe deploy token of the staging bot is {SLACK_TOKEN} for now.\n"})
    reply = ask(leaky, "What is the deploy token of the staging bot?", policy={"mode": "off"})
    assert SLACK_TOKEN in reply.answer
    assert SLACK_TOKEN not in leaky.questions.get(reply.question_id).answer
    leaky.close()


def test_shadow_mode_answers_and_records_the_gap_of_the_refusal(here):
    policy = {"mode": "shadow", "threshold": 0.999}
    reply = ask(here, "How large is the mailbox?", policy=policy)
    assert (reply.status, reply.reason) == (Status.ANSWERED, "insufficient_evidence")
    assert reply.citations[0].document == "mail.md"
    assert here.gaps.get(reply.gap.id).question == "How large is the mailbox?"


def test_without_the_gate_the_question_is_answered_and_no_refusal_is_on_record(here):
    reply = ask(here, "How large is the mailbox?", policy={"mode": "off", "threshold": 0.999})
    assert (reply.status, reply.reason, reply.gap) == (Status.ANSWERED, None, None)
    enforced = ask(here, "How large is the mailbox?", policy={"threshold": 0.999})
    assert (enforced.status, enforced.citations) == (Status.ABSTAINED, ())


def test_the_worked_example_comes_out_exactly(tmp_path, minilm):
    """Two passages without Terraform: four reasons in their order, and the type by priority."""
    two = Installation(tmp_path, minilm)
    two.write({name: DOCS[name] for name in ("mail.md", "backup.md")})
    reply = ask(two, "Terraform module best practices")
    assert len(reply.passages) == 2
    assert reply.max_score < 0.3
    assert reply.rules == (
        Rule.NO_RELEVANT_CHUNKS,
        Rule.FEW_DISTINCT_LESSONS,
        Rule.MISSING_PLATFORM,
        Rule.WEAK_ANSWER_LANGUAGE,
    )
    assert (reply.gap.type, reply.gap.reasons) == ("missing_platform", reply.rules)
    assert two.gaps.get(reply.gap.id).type == "missing_platform"
    two.close()


def test_disabled_rules_do_not_fire(here):
    reply = ask(here, UNANSWERABLE, policy={"disabled": frozenset({Rule.NO_RELEVANT_CHUNKS})})
    assert Rule.NO_RELEVANT_CHUNKS not in reply.rules
    assert Rule.FEW_DISTINCT_LESSONS in reply.rules


def test_history_makes_a_follow_up_stand_alone(here):
    history = (Turn("user", "Where is the VPN client?"), Turn("assistant", "In the tray."))
    reply = ask(here, "how do I reset it?", history=history)
    assert (reply.status, reply.citations[0].document) == (Status.ANSWERED, "vpn.md")
    assert reply.question == "how do I reset it?"
    assert "VPN" in here.questions.get(reply.question_id).text
    alone = ask(here, "how do I do it?")
    assert alone.status is not Status.ANSWERED


def test_an_unknown_collection_is_refused_by_name(here):
    with pytest.raises(UsageError, match=r"no collection 'secret'.*default"):
        ask(here, ANSWERABLE, collections=("secret",))
    assert written(here) == (0, 0)


def test_a_scope_without_value_is_refused(here):
    with pytest.raises(UsageError, match="version"):
        ask(here, ANSWERABLE, scope={"version": ()})


@pytest.mark.parametrize(
    "question", ["Wie setze ich den Zugang zum Netzwerk zurück?", "VPNをリセットするにはどうすればよいですか"]
)
def test_a_language_that_neither_model_nor_documents_cover_is_out_of_scope_and_no_gap(here, question):
    """B054: German and Japanese questions on English documents."""
    reply = ask(here, question)
    assert (reply.status, reply.reason, reply.gap) == (Status.ABSTAINED, "out_of_scope", None)
    assert written(here) == (1, 0)


def test_repeats_of_one_asker_count_once_and_askers_are_counted(here):
    """B085: twelve times within five minutes is once; three askers outrank one."""
    for _ in range(12):
        one = ask(here, UNANSWERABLE, asker="slack:U1")
        here.clock.forward(seconds=25)
    for asker in ("slack:U2", "slack:U3", "slack:U4"):
        three = ask(here, "Who waters the plants?", asker=asker)
    gap = here.gaps.get(one.gap.id)
    assert (gap.count, gap.askers) == (1, 1)
    ranked = here.gaps.list()
    assert [(g.id, g.askers, g.count) for g in ranked] == [(three.gap.id, 3, 3), (one.gap.id, 1, 1)]
    here.clock.forward(minutes=11)
    ask(here, UNANSWERABLE, asker="slack:U1")
    assert (here.gaps.get(one.gap.id).count, here.gaps.get(one.gap.id).askers) == (2, 1)


def test_the_text_that_was_asked_is_given_back_unchanged(here):
    asked = Question("  How do I reset the VPN client?  ")
    assert here.engine().ask(asked, log=False).question == asked.text
    assert here.engine().ask(replace(asked, text="hi"), log=False).question == "hi"


def test_a_chinese_question_that_chinese_documents_do_not_answer_is_a_gap(tmp_path, minilm):
    """The model does not cover the language, but the documents are written in it: something is missing there."""
    here = Installation(tmp_path, minilm)
    here.write(
        {
            "leave.md": "# 请假\n\n员工请假需要提前三天申请，并由主管批准。\n",
            "mail.md": "# Mail\n\nThe quota is 5 GB.\n",
        }
    )
    reply = here.engine().ask(Question("公司有没有健身房？"))
    here.close()
    assert (reply.status, reply.reason) == ("abstained", "insufficient_evidence")
    assert reply.gap is not None


def test_a_scope_that_no_document_carries_is_named_and_is_no_gap(here):
    reply = here.engine().ask(Question(ANSWERABLE, scope={"version": ("9",)}))
    assert (reply.status, reply.reason, reply.gap) == (Status.ABSTAINED, AbstainReason.OUT_OF_SCOPE, None)
    assert reply.answer == "No document is marked as valid for version = 9."
    assert here.gaps.list() == []


def test_what_a_person_reports_as_missing_becomes_a_gap_tied_to_its_question(here):
    engine = here.engine()
    reply = engine.ask(Question(ANSWERABLE, asker="slack:U1"))
    found = engine.report_missing(Question(ANSWERABLE, asker="slack:U2", id=reply.question_id))
    assert here.gaps.get(found.id).askers == 1
    assert here.questions.get(reply.question_id).gap_id == found.id
