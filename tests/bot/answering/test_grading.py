"""Grades, asked over HTTP: all, some or none of the passages; what cannot be graded stays as it was found."""

from __future__ import annotations

import pytest

from bot.answering.grading import Grader, graded, parse_grades
from bot.answering.llm_budget import Window
from bot.answering.sources import Rules
from store.errors import LlmError, UnavailableError
from store.records import Passage, Visibility
from tests.fakes.http_server import hangs
from tests.fakes.llm import fails, grades, says

QUESTION = "How do I reset the VPN client?"


def passage(number, *, visibility=Visibility.PUBLIC, text=None):
    return Passage(
        f"c{number}", f"d{number}", f"{number}.md", "", "", "", text or f"Text {number}.", 0.5, number,
        visibility=visibility,
    )  # fmt: skip


FOUND = tuple(passage(number) for number in range(1, 5))
ELSEWHERE = tuple(passage(number) for number in range(7, 10))


@pytest.fixture
def make(client_of):
    return lambda *, private=True, window=None, **endpoint: Grader(
        client_of(**endpoint), window or Window(), Rules(private=private)
    )


def never(_words):
    raise AssertionError("no second search was expected")


def test_when_all_are_relevant_all_are_kept_after_one_call(server, make):
    server.script(grades([1, 2, 3, 4]))
    result = graded(make(), QUESTION, FOUND, never)
    assert (result.relevant, result.rewrite) == (FOUND, "")
    assert len(server.requests) == 1


def test_when_some_are_relevant_those_are_kept_in_their_order(server, make):
    server.script(grades([3, 1]))
    assert graded(make(), QUESTION, FOUND, never).relevant == (FOUND[0], FOUND[2])


def test_when_none_is_one_search_in_other_words_is_graded_too(server, make):
    server.script(grades([], "reset virtual private network"), grades([2]))
    asked = []
    result = graded(make(), QUESTION, FOUND, lambda words: asked.append(words) or ELSEWHERE)
    assert (result.relevant, result.rewrite) == ((ELSEWHERE[1],), "reset virtual private network")
    assert asked == ["reset virtual private network"]
    assert QUESTION in server.prompt(1), "the second grades are about the question as it was asked"


def test_when_still_none_is_nothing_is_left_and_there_is_no_third_call(server, make):
    server.script(grades([], "other words"), grades([], "yet other words"), grades([1]))
    result = graded(make(), QUESTION, FOUND, lambda _words: ELSEWHERE)
    assert (result.relevant, len(server.requests)) == ((), 2)


def test_without_a_rewrite_nothing_is_searched(server, make):
    server.script(grades([], " \u200b"))
    assert graded(make(), QUESTION, FOUND, never).relevant == ()


def test_the_schema_is_sent(server, make):
    server.script(grades([1]))
    make().grade(QUESTION, FOUND)
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["relevant", "rewrite"]
    assert server.requests[0]["messages"][0]["content"].startswith("You judge which sources help")


@pytest.mark.parametrize(
    "turn",
    [
        hangs, fails(503), fails(400, "response_format is not supported"), says("All of them, I think."), says(""),
        says("{}"), says("[]"), says("null"), says('{"relevant": "all"}'), says('{"relevant": [0, 1]}'),
        says('{"relevant": [5]}'), says('{"relevant": [true]}'), says('{"relevant": ["1"]}'), says('{"relevant": [1'),
    ],
)  # fmt: skip
def test_whatever_cannot_be_read_leaves_the_passages_as_they_came(server, make, caplog, turn):
    server.script(turn)
    result = graded(make(total_seconds=0.4 if turn is hangs else 10.0), QUESTION, FOUND, never)
    assert result.relevant == FOUND
    assert result.notes[0].startswith("Not graded, LLM error (")
    assert "Not graded" in caplog.text


def test_a_second_search_or_second_grades_that_fail_leave_the_first_passages(server, make):
    def down(_words):
        raise UnavailableError("The vector store failed.")

    server.script(grades([], "other words"), grades([], "other words"), fails(503))
    assert graded(make(), QUESTION, FOUND, down).relevant == FOUND
    assert graded(make(), QUESTION, FOUND, lambda _words: ELSEWHERE).relevant == FOUND


@pytest.mark.parametrize(
    "text",
    [
        '{"relevant": [2], "rewrite": ""}', '```json\n{"relevant": [2], "rewrite": ""}\n```',
        'Here: {"relevant": [2, 2]} Done.', '{"relevant": [2], "rewrite": null, "because": "x"}',
    ],
)  # fmt: skip
def test_an_object_is_found_in_what_stands_around_it(text):
    assert parse_grades(text, 3) == (frozenset({2}), "")


def test_a_rewrite_is_cleaned_and_one_that_is_a_novel_is_none():
    assert parse_grades('{"relevant": [], "rewrite": " reset\\n\\u200b VPN "}', 3) == (frozenset(), "reset VPN")
    assert parse_grades(f'{{"relevant": [], "rewrite": "{"x" * 601}"}}', 3) == (frozenset(), "")


def test_private_passages_are_not_shown_and_not_rejected_unseen(server, make):
    secret = passage(2, visibility=Visibility.PRIVATE, text="hunter2")
    server.script(grades([]), grades([1]))
    grader = make(private=False)
    assert grader.grade(QUESTION, (FOUND[0], secret, FOUND[2])).relevant == (secret,)
    assert grader.grade(QUESTION, (FOUND[0], secret, FOUND[2])).relevant == (FOUND[0], secret)
    assert "hunter2" not in server.prompt(0) + server.prompt(1)
    with pytest.raises(LlmError, match="allow_private"):
        grader.grade(QUESTION, (secret,))


def test_passages_that_do_not_fit_are_not_rejected_unseen(server, make):
    long = tuple(passage(number, text="many words " * 150) for number in range(1, 6))
    server.script(grades([1]))
    kept = make(window=Window(1024, 300)).grade(QUESTION, long).relevant
    shown = server.prompt().count("<source number=")
    assert 1 <= shown < 5
    assert kept == (long[0], *long[shown:])
