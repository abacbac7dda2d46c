"""A probe counts what chat would answer, names the nearest passage, and remembers the last time."""

from __future__ import annotations

import pytest

from discovery.measuring.asked import Asked
from discovery.measuring.probe import QUOTE, compare, probe, probe_json, quote_for
from discovery.measuring.questions import Probe
from store.errors import UsageError
from store.records import AbstainReason, Passage, Reply, Status, Visibility


def passage(text="Press reset.", score=0.5, document="vpn.md", visibility=Visibility.PUBLIC):
    return Passage("d:0", "d", document, "VPN", "Reset", "", text, score, 1, visibility=visibility)


PASSAGE = passage()


def asked(question, *, covered, support=0.7, scenario="", passages=(PASSAGE,), status=None):
    chosen = status or (Status.ANSWERED if covered else Status.ABSTAINED)
    reason = None if covered else AbstainReason.INSUFFICIENT_EVIDENCE
    best = max((one.score for one in passages), default=0.0)
    reply = Reply(question, chosen, "", reason, passages=tuple(passages), max_score=best, support=support, policy="p1")
    return Asked(Probe(question, scenario), reply)


def test_the_json_has_the_fields_of_the_contract():
    found = probe([asked("How?", covered=True, scenario="a"), asked("Why?", covered=False, scenario="b")], 0.55)
    values = probe_json(found)
    assert (values["questions"], values["covered"], values["gaps"], values["threshold"]) == (2, 1, 1, 0.55)
    assert values["scenarios"] == [{"name": "b", "covered": 0, "gaps": 1}, {"name": "a", "covered": 1, "gaps": 0}]
    first = values["items"][0]
    assert (first["question"], first["scenario"], first["covered"], first["max_score"]) == ("How?", "a", True, 0.5)
    assert first["nearest"] == {"document": "vpn.md", "section": "Reset", "quote": "Press reset."}


def test_the_nearest_passage_is_the_one_with_the_highest_score():
    near, far = passage("near", 0.6, "near.md"), passage("far", 0.2, "far.md")
    found = probe([asked("How?", covered=False, passages=(far, near))], 0.5)
    assert found.items[0].nearest.document == "near.md"
    nothing = probe([asked("How?", covered=False, passages=())], 0.5)
    assert nothing.items[0].nearest is None
    assert probe_json(nothing)["items"][0]["nearest"] is None


def test_an_answer_that_a_watching_gate_would_have_refused_is_no_coverage():
    refused = asked("How?", covered=False, status=Status.ANSWERED)
    assert probe([refused], 0.5).coverage.hits == 0


def test_small_talk_and_failures_are_counted_apart():
    found = probe(
        [
            asked("thanks", covered=False, status=Status.SMALLTALK),
            asked("How?", covered=False, status=Status.ERROR),
            asked("Why?", covered=True),
        ],
        0.5,
    )
    assert (found.coverage.hits, found.coverage.of) == (1, 1)
    assert len(found.notes) == 2


def test_secrets_are_masked_in_questions_and_quotes():
    text = "mail a.person@corp.example about it"
    found = probe([asked(text, covered=False, passages=(passage(text),))], 0.5)
    assert "corp.example" not in str(probe_json(found))
    assert "corp.example" in str(probe_json(probe([asked(text, covered=False)], 0.5, masked=False)))


def test_private_documents_are_marked():
    private = passage(visibility=Visibility.PRIVATE)
    assert probe([asked("How?", covered=False, passages=(private,))], 0.5).items[0].nearest.private


def test_a_comparison_names_what_closed_and_what_is_new():
    """Wordings that differ in case and spaces are the same question; scenarios keep equal questions apart."""
    before = probe_json(
        probe(
            [
                *(asked(f"Gap {n}?", covered=False) for n in range(3)),
                asked("Fine?", covered=True),
                asked("Gone?", covered=True),
            ],
            0.5,
        )
    )
    now = probe(
        [
            *(asked(f"gap  {n}?", covered=True) for n in range(3)),
            asked("Fine?", covered=False),
            asked("Other?", covered=False),
        ],
        0.5,
    )
    found = compare(now, before)
    assert (found.closed, found.new) == (("gap  0?", "gap  1?", "gap  2?"), ("Fine?",))
    assert found.sentence == (
        "3 gaps closed, 1 new gap, 1 question asked for the first time, 1 question no longer asked"
    )


@pytest.mark.parametrize("values", [{}, {"items": [1]}, {"items": [{"question": "a"}]}])
def test_what_is_no_probe_cannot_be_compared(values):
    with pytest.raises(UsageError):
        compare(probe([asked("How?", covered=True)], 0.5), values)


def test_a_quote_is_the_piece_that_shares_most_words_and_never_too_long():
    text = "# Mail\n\nThe quota is 5 GB.\nTo reset the VPN press the blue button. " + "x" * 900
    assert quote_for("How do I reset the VPN?", passage(text)) == "To reset the VPN press the blue button."
    assert len(quote_for("x", passage("y" * 900))) == QUOTE
