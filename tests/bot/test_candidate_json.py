"""Suggested sources as JSON and as lines of text."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from bot.candidate_json import candidate_as_json, candidate_lines, outcome_as_json, preview_lines, reasked_lines
from discovery.ports import Outcome, Reasked
from store.records import Candidate, CandidateState, Nearest, Preview, Source

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
SOURCE = Source(
    "github:1:a.md", "github", "A", "acme/x:a.md", "https://github.test/acme/x", "abc", "MIT", "acme", 12, NOW,
    archived=True, reasons=("Because.",),
)  # fmt: skip
PREVIEW = Preview(9, 7, 0.74, 2, (Nearest("acme/x/a.md", "Steps", "Do\nthis.", 0.74),))
CANDIDATE = Candidate("c1", "t1", "keys", SOURCE, NOW, ("g1",), 0.8, PREVIEW)
REASKED = (Reasked("0123456789", "How?", True, 0.25, 0.81), Reasked("abcdef0123", "Why?", False, 0.2, 0.3))


def test_json_has_every_fact_as_plain_values():
    values = json.loads(json.dumps(candidate_as_json(CANDIDATE)))
    assert values["topic"] == {"id": "t1", "label": "keys"}
    assert values["source"]["licence"] == "MIT"
    assert values["source"]["updated_at"] == "2026-06-01T09:00:00+00:00"
    assert values["preview"]["evidence"][0]["section"] == "Steps"
    assert (values["state"], values["decided_by"], values["snoozed_until"]) == ("pending", None, None)


def test_what_is_unknown_is_null():
    bare = replace(CANDIDATE, preview=None, source=replace(SOURCE, licence="", updated_at=None))
    values = candidate_as_json(bare)
    assert (values["preview"], values["source"]["licence"], values["source"]["updated_at"]) == (None, None, None)


def test_an_outcome_has_support_before_and_after():
    values = outcome_as_json(Outcome(CANDIDATE, REASKED))
    assert [(one["closed"], one["before"], one["after"]) for one in values["gaps"]] == [
        (True, 0.25, 0.81),
        (False, 0.2, 0.3),
    ]


def test_the_lines_say_what_it_would_do():
    assert preview_lines(PREVIEW) == [
        "Would answer 7 of 9 questions (best score 0.74); would change 2 answers that are fine today.",
        "  Steps (0.74): Do this.",
    ]
    lines = candidate_lines(replace(CANDIDATE, state=CandidateState.REJECTED, decided_by="cli:me", note="old"))
    assert "Licence: MIT; owner: acme; changed: 2026-06-01; archived" in lines
    assert lines[-2:] == ["Decided by cli:me.", "Note: old"]
    assert "It was not tried out on the questions." in candidate_lines(replace(CANDIDATE, preview=None))


def test_each_gap_is_a_line():
    assert reasked_lines(REASKED) == ["closed  01234567  0.25 → 0.81  How?", "open    abcdef01  0.20 → 0.30  Why?"]
