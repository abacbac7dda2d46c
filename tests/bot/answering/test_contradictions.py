"""Two documents that say the same with another figure are not quoted as if one of them were right."""

from __future__ import annotations

import pytest

from bot.answering.contradictions import contradiction
from store.records import Passage, Question, Status
from tests.fakes.installation import Installation

LEAVE = "Full-time employees receive 25 days of paid annual leave."


def passage(document, text=LEAVE, *, section="Annual leave", title="Leave", scope=None):
    return Passage(f"{document}:0", document, document, title, section, "", text, 0.7, 1, scope=scope or {})


OLD = passage("handbook-old/leave.md")
NEW = passage("handbook/leave.md", LEAVE.replace("25", "30"))


@pytest.mark.parametrize(
    ("passages", "question", "said"),
    [
        ([OLD, NEW], "How many days of leave?", "25 (handbook-old/leave.md) or 30 (handbook/leave.md)"),
        ([OLD, passage("copy/leave.md")], "How many days of leave?", ""),
        ([OLD, NEW], "How many days of leave did the old handbook give?", ""),
        ([OLD, passage("new/leave.md", "Ask your lead for up to 30 days in a row.")], "How many days of leave?", ""),
        ([OLD, passage("new/leave.md", NEW.text, section="Special leave")], "How many days of leave?", ""),
        ([OLD, passage("new/pay.md", NEW.text, title="Pay")], "How many days of leave?", ""),
        ([OLD, passage("new/leave.md", NEW.text + " And 25 days in the first year.")], "How many days of leave?", ""),
        ([OLD, passage("new/leave.md", NEW.text, scope={"country": ("fr",)})], "How many days of leave?", ""),
        ([OLD, OLD, OLD, NEW], "How many days of leave?", ""),
        ([], "How many days of leave?", ""),
    ],
)
def test_other_figures_in_the_same_words_and_place_are_a_contradiction(passages, question, said):
    assert contradiction(question, passages) == said


@pytest.fixture(scope="module")
def here(tmp_path_factory, minilm):
    installation = Installation(tmp_path_factory.mktemp("contradictions"), minilm)
    for folder, days in (("handbook", 30), ("archive", 25)):
        installation.write(
            {f"{folder}/leave.md": f"# Leave\n\n## Annual leave\n\nFull-time employees receive {days} days of paid "
             "annual leave.\n"}
        )  # fmt: skip
    installation.write({"mail.md": "# Mail\n\nThe mailbox quota is 5 GB.\n"})
    yield installation
    installation.close()


def test_contradicting_documents_are_a_gap_that_names_them(here):
    reply = here.engine().ask(Question("How many days of paid annual leave do full-time employees receive?"))
    assert (reply.status, reply.reason) == (Status.ABSTAINED, "ambiguous_evidence")
    assert "they disagree" in reply.answer
    assert {"handbook/leave.md › Annual leave", "archive/leave.md › Annual leave"} <= {
        line.removeprefix("- ") for line in reply.answer.splitlines()
    }
    assert reply.gap is not None


def test_naming_one_of_them_settles_it(here):
    reply = here.engine().ask(Question("How many days of paid annual leave are in the archive's leave page?"))
    assert reply.status is Status.ANSWERED
