"""Each stage is judged by itself, and the first thing that went wrong gets the blame."""

from __future__ import annotations

import pytest

from discovery.measuring.asked import Asked
from discovery.measuring.evaluate import differences, evaluate, evaluation_json
from discovery.measuring.judged import judge, same
from discovery.measuring.questions import Probe
from store.records import AbstainReason, Citation, Passage, Reply, Status


def passage(document, text="Press reset."):
    return Passage(f"{document}:0", document, document, "T", "", "", text, 0.5, 1)


def asked(*, answerable=True, gold=(), found=("a.md",), cites=None, reason=None, quote="Press reset.", **probe):
    """An answer citing the first document found, or a refusal with a reason."""
    cited = (found[0] if cites is None else cites) if found else ""
    citations = () if reason or not cited else (Citation(1, cited, "T", "", "", 0.5, quote),)
    reply = Reply(
        "Q?",
        Status.ABSTAINED if reason else Status.ANSWERED,
        "",
        AbstainReason(reason) if reason else None,
        citations=citations,
        passages=tuple(passage(one) for one in found),
        support=0.2 if reason else 0.8,
        timings_ms={"total": 10.0},
    )
    return Asked(Probe("Q?", answerable=answerable, gold_documents=tuple(gold), **probe), reply)


def figures(*questions):
    return evaluate(questions, 0.5).stages


def test_retrieval_figures_have_the_values_worked_out_by_hand():
    """Right documents at places 1 and 3 of two wanted, and at none of one wanted."""
    first = asked(gold=("a.md", "c.md"), found=("a.md", "b.md", "c.md"))
    second = asked(gold=("z.md",), found=("a.md", "b.md"))
    found = {name: figure.value for name, figure in figures(first, second)["retrieval"].items()}
    assert found["top_1"] == 0.5
    assert found["recall@1"] == pytest.approx(0.25)
    assert found["recall@3"] == pytest.approx(0.5)
    assert found["mrr@10"] == pytest.approx(0.5)
    assert found["ndcg@10"] == pytest.approx((1 + 0.5) / (1 + 0.6309297536) / 2)
    assert found["injected_tokens"] == pytest.approx((3 * 3 + 2 * 3) / 2)


def test_chunks_of_one_document_take_one_place():
    assert judge(asked(gold=("b.md",), found=("a.md", "a.md", "a.md", "b.md"))).rank == 2


@pytest.mark.parametrize(
    ("document", "gold", "equal"),
    [
        ("guide/vpn.md", "vpn.md", True),
        ("vpn.md", "guide/vpn.md", True),
        ("Guide\\VPN.md", "guide/vpn.md", True),
        ("guide/vpn.md", "guide/vpn", True),
        ("guide/myvpn.md", "vpn.md", False),
        ("guide/vpn.md", "vpn.txt", False),
        ("https://docs.example/vpn", "https://docs.example/vpn", True),
    ],
)
def test_documents_are_named_by_path_or_its_end(document, gold, equal):
    assert same(document, gold) is equal


@pytest.mark.parametrize(
    ("question", "correct", "failure"),
    [
        (asked(gold=("a.md",)), True, None),
        (asked(answerable=False, reason="insufficient_evidence"), True, None),
        (asked(answerable=False), False, "evidence"),
        (asked(gold=("z.md",)), False, "retrieval"),
        (asked(gold=("z.md",), reason="insufficient_evidence"), False, "retrieval"),
        (asked(gold=("a.md",), reason="insufficient_evidence"), False, "evidence"),
        (asked(gold=("a.md",), reason="scope_conflict"), False, "scope"),
        (asked(gold=("a.md",), reason="out_of_scope"), False, "scope"),
        (asked(gold=("b.md",), found=("a.md", "b.md")), False, "generation"),
        (asked(gold=("a.md",), reason="unsupported_citation"), False, "generation"),
        (asked(answerable=None), None, None),
    ],
)
def test_the_first_step_that_failed_is_named(question, correct, failure):
    judged = judge(question)
    assert (judged.correct, judged.failure) == (correct, failure)


def test_gate_figures_take_labelled_questions_only():
    gate = figures(
        asked(),
        asked(reason="insufficient_evidence"),
        asked(answerable=False),
        asked(answerable=False, reason="insufficient_evidence"),
        asked(answerable=None),
    )["gate"]
    assert (gate["false_accepts"].value, gate["false_abstentions"].value) == (0.5, 0.5)
    assert (gate["gap_f1"].value, gate["auroc_support"].value) == (0.5, 0.5)
    assert (gate["false_accepts"].n, gate["auroc_support"].n) == (2, 4)


@pytest.mark.parametrize(
    ("question", "valid"),
    [
        (asked(), 1.0),
        (asked(quote="Press … reset."), 1.0),
        (asked(quote="Never written."), 0.0),
        (asked(cites="other.md"), 0.0),
        (asked(reason="insufficient_evidence"), None),
    ],
)
def test_citations_are_valid_when_they_stand_in_a_passage_of_this_question(question, valid):
    assert figures(question)["answer"]["citations_valid"].value == valid


def test_slices_show_what_differs_with_the_worst_first_and_nothing_else():
    found = evaluate([asked(scenario="good"), asked(scenario="bad", reason="insufficient_evidence")], 0.5)
    assert list(found.slices) == ["scenario"]
    assert list(found.slices["scenario"]) == ["bad", "good"]


def test_without_labels_and_documents_the_notes_say_what_is_missing():
    found = evaluate([asked(answerable=None), asked(), asked(gold=("nowhere.md",))], 0.5)
    assert len(found.notes) == 3
    assert any("gold_documents" in note for note in found.notes)


def test_another_policy_is_compared_question_by_question():
    questions = [asked(answerable=False) for _ in range(10)]
    stricter = [Asked(one.probe, asked(answerable=False, reason="insufficient_evidence").reply) for one in questions]
    found = differences(evaluate(questions, 0.2), evaluate(stricter, 0.6))
    assert (found["correct"].value, found["answered_gaps"].value, found["correct"].n) == (1.0, -1.0, 10)
    assert found["refused_covered"].value is None


def test_the_json_is_plain_and_every_figure_has_its_interval():
    values = evaluation_json(evaluate([asked(gold=("a.md",)), asked(answerable=False)], 0.5))
    assert set(values) >= {"questions", "policy", "threshold", "retrieval", "gate", "answer", "end_to_end", "failures"}
    assert set(values["gate"]["false_accepts"]) == {"value", "low", "high", "n"}
    assert values["failures"] == {"retrieval": 0, "scope": 0, "evidence": 1, "generation": 0}
