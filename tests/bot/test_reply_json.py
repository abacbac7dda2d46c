"""The JSON of a reply is a contract: its fields, their types, their order of magnitude."""

from __future__ import annotations

import json

import pytest

from bot.reply_json import reply_as_json
from store.records import AbstainReason, Citation, GapReference, GapType, Passage, Reply, Rule, Status

FULL = Reply(
    question="q",
    status=Status.ABSTAINED,
    answer="a",
    reason=AbstainReason.INSUFFICIENT_EVIDENCE,
    citations=(Citation(1, "a.md", "A", "S", "", 0.123456, "quote"),),
    passages=(Passage("c", "d", "a.md", "A", "S", "", "text", 0.123456, 1),),
    max_score=0.123456,
    support=0.12345678,
    rules=(Rule.NO_RELEVANT_CHUNKS,),
    gap=GapReference("g", GapType.NO_COVERAGE, (Rule.NO_RELEVANT_CHUNKS,)),
    policy="p",
    timings_ms={"embed": 1.23456, "dense": 3.0, "total": 2.0},
    notes=("note",),
)


def test_a_full_reply_has_every_field_of_the_contract():
    assert reply_as_json(FULL) == {
        "question": "q",
        "status": "abstained",
        "reason": "insufficient_evidence",
        "answer": "a",
        "citations": [
            {
                "number": 1, "document": "a.md", "title": "A", "section": "S", "url": "", "score": 0.1235,
                "quote": "quote",
            }
        ],
        "passages": [{"document": "a.md", "section": "S", "score": 0.1235, "rank": 1}],
        "max_score": 0.1235,
        "support": 0.123457,
        "rules": ["no_relevant_chunks"],
        "gap": {"id": "g", "type": "no_coverage", "reasons": ["no_relevant_chunks"]},
        "policy": "p",
        "timings_ms": {"embed": 1.235, "search": 0.0, "gate": 0.0, "answer": 0.0, "total": 2.0},
        "notes": ["note"],
    }  # fmt: skip


def test_an_empty_reply_has_the_same_fields():
    values = reply_as_json(Reply("", Status.SMALLTALK, "hi"))
    assert set(values) == set(reply_as_json(FULL))
    assert (values["reason"], values["gap"], values["citations"]) == (None, None, [])


@pytest.mark.parametrize("identity", ["a", "", "0"])
def test_a_batch_reply_carries_its_id_first(identity):
    values = reply_as_json(FULL, identity)
    assert next(iter(values.items())) == ("id", identity)
    assert "id" not in reply_as_json(FULL)


def test_values_are_plain_json_without_nan():
    values = reply_as_json(FULL)
    assert json.loads(json.dumps(values, allow_nan=False)) == values
