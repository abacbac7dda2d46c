"""The log of a running bot: every line belongs to a question, and none repeats what people wrote."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import threading

import pytest

from bot.chat.messages import Heard, Person
from bot.chat.work import Workers
from bot.logs import LogOptions, configure
from bot.logs_context import current_question, handling, own_question
from store.errors import UnavailableError
from store.records import Question
from tests.fakes.chat import PlainPlatform, service_over
from tests.fakes.installation import Installation

SECRET_QUESTION = "Why does the zanzibar ledger reject invoices of my uncle Bartholomew?"
DOCS = {"vpn.md": "# VPN\n\nTo reset the VPN client, press the blue button.\n"}


@pytest.fixture
def log():
    """Starts a log; gives the stream that it goes to."""

    def start(form="json", level="debug", secrets=()):
        stream = io.StringIO()
        configure(LogOptions(form, level, secrets), stream)
        return stream

    return start


def lines(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_its_time_in_utc(log):
    stream = log()
    logging.getLogger("bot.chat").warning("Part %d\nis late", 3)
    (line,) = lines(stream)
    assert line.pop("time").endswith("Z")
    assert line == {"level": "warning", "logger": "bot.chat", "message": "Part 3\nis late"}


def test_a_traceback_is_one_field(log):
    stream = log()
    try:
        int("no number")
    except ValueError:
        logging.getLogger("store.index").exception("It failed")
    (line,) = lines(stream)
    assert line["message"] == "It failed"
    assert line["traceback"].startswith("Traceback")
    assert line["traceback"].endswith("'no number'")


def test_in_text_a_further_line_cannot_pass_for_a_record(log):
    stream = log("text")
    logging.getLogger("bot").warning("first\n2026-01-01T00:00:00.000Z ERROR bot forged")
    assert len([line for line in stream.getvalue().splitlines() if not line.startswith(" ")]) == 1


def test_our_own_packages_follow_the_level_and_libraries_are_heard_from_warnings_on(log):
    stream = log(level="debug")
    chatty = logging.getLogger("gaplight.slack.sdk")
    chatty.setLevel(logging.DEBUG)
    for name in ("store.search", "httpx", "sqlalchemy.engine", "gaplight.slack.sdk", "discord.http"):
        logging.getLogger(name).debug("detail")
        logging.getLogger(name).info("more")
        logging.getLogger(name).warning("trouble")
    heard = [(line["logger"], line["message"]) for line in lines(stream)]
    assert [text for name, text in heard if name == "store.search"] == ["detail", "more", "trouble"]
    assert {text for name, text in heard if name != "store.search"} == {"trouble"}


def test_what_libraries_attach_to_a_record_is_left_out(log):
    stream = log()
    logging.getLogger("bot").warning("plain", extra={"body": SECRET_QUESTION})
    assert "zanzibar" not in stream.getvalue()


def test_secrets_of_the_process_and_what_looks_like_one_are_masked(log):
    stream = log(secrets=("hunter2hunter2",))
    logging.getLogger("bot").warning("Login with hunter2hunter2 as ann@example.org: %s", "xoxb-123456789012-abcdef")
    assert lines(stream)[0]["message"] == "Login with [secret] as [email]: [secret]"


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_that_quotes_the_question_is_masked(log, form):
    stream = log(form)
    with own_question(SECRET_QUESTION, recorded=True):
        try:
            int(SECRET_QUESTION)
        except ValueError:
            logging.getLogger("bot").exception("It failed")
    assert "[private]" in stream.getvalue()
    assert "zanzibar" not in stream.getvalue()


def test_exceptions_that_nobody_caught_reach_the_log_from_every_thread(log):
    stream = log()
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    sys.excepthook(ValueError, ValueError("lost"), None)
    assert [line["message"] for line in lines(stream)] == ["A thread failed", "The program failed"]


def test_one_message_has_one_id_and_each_recorded_question_its_own():
    with handling("message"):
        outer = current_question()
        with own_question("tried out", recorded=False) as tried, own_question("first", recorded=True) as first:
            assert tried == first == outer
        with own_question("second", recorded=True) as second:
            assert second not in {outer, ""}
        assert current_question() == outer
    assert not current_question()


def test_the_id_comes_along_into_the_threads_that_work_and_not_into_the_next_task():
    async def work():
        workers = Workers(1)
        with handling("message"):
            here = current_question()
            found = await workers.work(current_question), await workers.quick(current_question)
        after = await workers.work(current_question)
        workers.close()
        return here, found, after

    here, found, after = asyncio.run(work())
    assert here
    assert found == (here, here)
    assert after == ""


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    installation.write(DOCS)
    yield installation
    installation.close()


def asked(service, text=SECRET_QUESTION):
    """Have a message answered in chat; the room that it was answered in."""
    room = PlainPlatform("slack").room()
    heard = Heard("slack", "C1", "C1:1.0", "1.0", Person("slack:U1"), text, mentions_bot=True)
    asyncio.run(service.hear(heard, room))
    return room


def words_in(stream, *texts):
    """Words of texts, longer than any that a log line holds by chance, that the log repeats."""
    said = stream.getvalue().casefold()
    words = {word.strip("?.,").casefold() for text in texts for word in text.split()}
    return {word for word in words if len(word) > 6 and word in said}


def test_a_question_leaves_its_id_and_none_of_its_words_in_the_log(here, log):
    stream = log()
    service = service_over(here)
    room = asked(service)
    reply = room.delivered[0].reply
    about = [line for line in lines(stream) if line["logger"].startswith("bot.answering")]
    assert [line["question"] for line in about] == [reply.question_id]
    assert "abstained" in about[0]["message"]
    assert words_in(stream, SECRET_QUESTION) == set()


class Broken:
    """A question log that cannot be written, and says so as SQLAlchemy would: with the statement's values."""

    def __init__(self, questions):
        self._questions = questions

    def __getattr__(self, name):
        return getattr(self._questions, name)

    def record(self, record):
        cause = ValueError(f"INSERT failed [parameters: {(record.text, record.answer)!r}]")
        raise UnavailableError("The database does not work.") from cause


@pytest.mark.parametrize("form", ["text", "json"])
def test_neither_question_nor_answer_is_in_the_log_when_everything_fails(here, log, form):
    stream = log(form)
    question = "How do I reset the VPN client of Bartholomew?"
    service = service_over(here, engine=here.engine(questions=Broken(here.questions), mode="off"))
    room = asked(service, question)
    assert "blue button" in room.delivered[0].text
    assert "Traceback" in stream.getvalue()
    assert "The question could not be logged" in stream.getvalue()
    assert "blue button" not in stream.getvalue()
    assert words_in(stream, question) == set()


def test_a_database_error_does_not_carry_the_values_of_its_statement(database, log):
    from sqlalchemy import text

    stream = log()
    try:
        with database.begin() as connection:
            connection.execute(text("INSERT INTO nowhere VALUES (:question)"), {"question": SECRET_QUESTION})
    except Exception:
        logging.getLogger("bot").exception("Not written")
    assert "nowhere" in stream.getvalue()
    assert "zanzibar" not in stream.getvalue()


def test_the_id_in_the_log_is_that_of_the_record(here, log):
    stream = log()
    reply = here.engine().ask(Question(SECRET_QUESTION))
    assert here.questions.get(reply.question_id).text == SECRET_QUESTION
    assert lines(stream)[-1]["question"] == reply.question_id
