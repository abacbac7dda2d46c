"""What a question names restricts the answer; documents valid for different things are never blended."""

from __future__ import annotations

import pytest

from bot.answering.scopes import conflict, named_scope, within
from store.records import Passage, Status
from tests.fakes.installation import Installation

KNOWN = {
    "version": frozenset({"1", "2", "2.10"}),
    "os": frozenset({"windows", "macos"}),
    "region": frozenset({"eu", "us"}),
}


@pytest.mark.parametrize(
    ("question", "scope"),
    [
        ("How do I reset it in v2?", {"version": ("2",)}),
        ("How do I reset it in version 2.10?", {"version": ("2.10",)}),
        ("What changed between v1 and v2?", {}),
        ("How many of the 2 keys do I need?", {}),
        ("How do I reset it on Windows?", {"os": ("windows",)}),
        ("Give us the limits", {}),
        ("Limits in region: us", {"region": ("us",)}),
        ("Does v3 have it?", {}),
        ("windowsill colours", {}),
    ],
)
def test_a_question_names_one_value_of_a_key(question, scope):
    assert named_scope(question, KNOWN) == scope


def test_a_value_that_all_documents_share_restricts_nothing():
    assert named_scope("in v2", {"version": frozenset({"2"})}) == {}


def passage(document, text="Press the red button.", *, scope=None, section="Reset", title="VPN"):
    return Passage(f"{document}:0", document, document, title, section, "", text, 0.7, 1, scope=scope or {})


ONE = passage("v1/vpn.md", "Press the red button.", scope={"version": ("1",)})
TWO = passage("v2/vpn.md", "Press the blue button.", scope={"version": ("2",)})
FREE = passage("faq.md", "Ask the desk.")


def test_passages_valid_for_something_else_go_and_those_that_say_nothing_stay():
    assert within([ONE, TWO, FREE], {"version": ("2",)}) == (TWO, FREE)
    assert within([ONE, TWO, FREE], {}) == (ONE, TWO, FREE)


@pytest.mark.parametrize(
    ("passages", "question", "scope", "said"),
    [
        ([ONE, TWO], "How do I reset?", {}, "version: 1 or 2"),
        ([ONE, TWO], "How do I reset in v1 and v2?", {}, ""),
        ([ONE, TWO], "How do I reset?", {"version": ("1",)}, ""),
        ([ONE, passage("v2/vpn.md", ONE.text, scope={"version": ("2",)})], "How do I reset?", {}, ""),
        ([ONE, passage("v2/mail.md", "Other", title="Mail", scope={"version": ("2",)})], "How do I reset?", {}, ""),
        ([ONE, FREE], "How do I reset?", {}, ""),
        ([ONE, FREE, FREE, TWO], "How do I reset?", {}, ""),
    ],
)
def test_the_same_place_of_two_versions_that_differs_is_a_conflict(passages, question, scope, said):
    assert conflict(question, passages, scope) == said


@pytest.fixture(scope="module")
def here(tmp_path_factory, minilm):
    installation = Installation(tmp_path_factory.mktemp("scopes"), minilm)
    for version, colour in (("1", "red"), ("2", "blue")):
        installation.write(
            {f"v{version}/vpn.md": f"---\nscope:\n  version: '{version}'\n---\n# VPN\n\n## Reset\n\nTo reset the VPN "
             f"client, press the {colour} button.\n"}
        )  # fmt: skip
    installation.write({"mail.md": "# Mail\n\nThe mailbox quota is 5 GB.\n"})
    yield installation
    installation.close()


def ask(here, question, **options):
    from store.records import Question

    return here.engine().ask(Question(question, **options))


def test_two_versions_are_not_blended_and_the_question_is_asked_back(here):
    reply = ask(here, "How do I reset the VPN client?")
    assert (reply.status, reply.reason, reply.gap) == (Status.ABSTAINED, "scope_conflict", None)
    assert any("version: 1 or 2" in note for note in reply.notes)


@pytest.mark.parametrize(("version", "colour"), [("1", "red"), ("2", "blue")])
def test_the_version_that_a_question_names_is_answered(here, version, colour):
    reply = ask(here, f"How do I reset the VPN client in v{version}?")
    assert reply.status is Status.ANSWERED
    assert colour in reply.answer
    assert {one.document for one in reply.citations} == {f"v{version}/vpn.md"}
    assert colour in ask(here, "How do I reset the VPN client?", scope={"version": (version,)}).answer


def test_a_watching_gate_answers_and_notes_the_conflict(here):
    from store.records import Question

    reply = here.engine(mode="shadow").ask(Question("How do I reset the VPN client?"), log=False)
    assert (reply.status, reply.reason) == (Status.ANSWERED, "scope_conflict")
