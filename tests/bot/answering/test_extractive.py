"""Facts about extractive answers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answering.extractive import answer
from bot.answering.quoting import balanced, lines_of
from bot.answering.screen import SCREEN_CHARACTERS, SCREEN_LINES
from store.records import Passage
from store.search import QuestionTerm
from store.text import informative, stems, terms

BACKUP = """Backups are kept in three regions. A backup runs every night at 02:00 UTC. It takes about ten minutes.

To restore a backup, run this:

```sh
restore --from s3://bucket. Then
echo done
```

Ask the platform team before you touch production."""

STEPS = """The old way is gone. Follow these steps:

1. Open the console.
2. Press **Rotate**.
   ```sh
   rotate --now
   ```
3. Wait for the mail.

The certificate team is told."""

TABLE = """Limits of the plans:

| plan | seats | storage |
|------|-------|---------|
| free | 3 | 1 GB |
| team | 50 | 100 GB |
| giant | 900 | 9 TB |"""


def passage(text, number=1, score=0.6, title="Guide", section="", document=None):
    name = document or f"doc{number}.md"
    return Passage(f"c{number}", name, name, title, section, "", text, score, number)


def weighted(question, passages):
    """The question's terms as search weighs them, with the passages as the whole corpus."""
    texts = [set(stems(f"{one.title} {one.section} {one.text}")) for one in passages]
    found = []
    for term in informative(terms(question)):
        frequency = sum(term.stem in text for text in texts)
        weight = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        found.append(QuestionTerm(term.stem, term.surface, frequency, weight))
    return found


def ask(question, *passages):
    return answer(question, weighted(question, passages), passages)


def test_the_sentence_that_answers_is_quoted_with_its_source():
    found = ask("When does the backup run?", passage(BACKUP, section="Backups"), passage(STEPS, 2, 0.4))
    assert "A backup runs every night at 02:00 UTC." in found.text
    assert found.text.startswith("Backups are kept")
    assert found.text.endswith("[1]")
    assert (found.citations[0].document, found.citations[0].section) == ("doc1.md", "Backups")


def test_a_code_block_is_kept_whole_with_the_line_that_announces_it():
    found = ask("How do I restore a backup?", passage(BACKUP))
    assert "To restore a backup, run this:\n\n```sh\nrestore --from s3://bucket. Then\necho done\n```" in found.text


def test_steps_are_kept_whole_with_their_code():
    found = ask("How can I rotate the certificate?", passage(STEPS))
    assert STEPS[STEPS.index("1. Open") : STEPS.index("3. Wait") + len("3. Wait for the mail.")] in found.text
    assert "Follow these steps:" in found.text


def test_the_code_of_a_how_to_may_stand_in_the_next_chunk():
    first = passage("I wanted to ignore errors in a script of mine.", 1, 0.7, document="a.md")
    second = passage("```sh\nset +e\n```", 2, 0.5, document="a.md")
    assert "set +e" in ask("How do I ignore errors in a script?", first, second).text


def test_a_row_is_quoted_under_its_header():
    rows = "\n".join(f"| plan{number} | {number} | a long description of the plan |" for number in range(20))
    text = f"| plan | seats | about |\n|---|---|---|\n{rows}"
    found = ask("How many seats has plan17?", passage(text))
    assert found.text == (
        "| plan | seats | about |\n|---|---|---|\n| plan17 | 17 | a long description of the plan |\n\n[1]"
    )
    assert found.citations[0].quote == "| plan17 | 17 | a long description of the plan |"


def test_a_short_table_is_quoted_whole():
    assert TABLE.split("\n\n")[1] in ask("How much storage has the team plan?", passage(TABLE)).text


def test_an_item_of_a_long_list_brings_its_leading_line():
    items = "\n".join(f"- item {name} has a rather long description of itself" for name in "abcdefghijklmnop")
    found = ask("What is zebra about?", passage(f"Check these:\n\n{items}\n- zebra means stripes, mostly on horses"))
    assert found.text == "Check these:\n…\n- zebra means stripes, mostly on horses [1]"


def test_a_sentence_that_leans_on_the_one_before_brings_it():
    filler = " ".join(f"Sentence number {number} says nothing of interest to anybody." for number in range(12))
    text = f"{filler} The queue is full. This blocks every webhook until it drains. {filler}"
    assert (
        "The queue is full. This blocks every webhook until it drains."
        in ask("What blocks webhook?", passage(text)).text
    )


def test_a_copy_is_quoted_once():
    found = ask("When does the backup run?", passage(BACKUP), passage(BACKUP, 2, 0.59))
    assert found.text.count("02:00") == 1
    assert [citation.document for citation in found.citations] == ["doc1.md"]


def test_two_chunks_of_one_section_are_one_source():
    first = passage("The gateway timeout is 30 seconds.", 1, 0.6, section="Limits", document="a.md")
    second = passage("The gateway timeout grows for uploads of large files.", 2, 0.6, section="Limits", document="a.md")
    found = ask("gateway timeout", first, second)
    assert found.text.count("[1]") == 2
    assert len(found.citations) == 1


def test_the_definition_comes_first_when_it_is_asked_for():
    text = "Quorum matters for quorum writes with quorum reads.\n\nA quorum is the majority of the members."
    found = ask("What is a quorum?", passage(text), passage("Nothing else.", 2, 0.1))
    assert "A quorum is the majority of the members." in found.text
    assert found.citations[0].quote == "A quorum is the majority of the members."


def test_without_a_common_word_the_nearest_passage_begins_the_answer():
    found = ask("Ferien?", passage("## Leave\n\nVacation is 30 days.", 1, 0.5), passage("Nothing.", 2, 0.7))
    assert found.text == "Nothing. [1]"


def test_a_document_of_one_line_gives_that_line():
    found = ask("my card has not arrived", passage("Where is my new card?"))
    assert found.text == "Where is my new card? [1]"


def test_an_answer_follows_the_question_that_the_document_asks():
    text = "How do I reset my password?\n\nClick on the link in the mail.\n\nHow do I log in?\n\nUse the key."
    found = ask("How do I reset my password?", passage(text))
    assert "Click on the link in the mail." in found.text


def test_chinese_sentences_are_quoted():
    text = (
        "备份每天凌晨两点运行。"
        + "平台团队负责所有的区域和网络设置以及相关的权限管理工作。" * 20
        + "证书每年轮换一次。"
    )
    found = ask("证书多久轮换一次？", passage(text))
    assert found.text == "证书每年轮换一次。 [1]"


def test_a_line_that_only_says_to_do_is_not_quoted():
    assert "TODO" not in ask("When is the disk full?", passage("The disk is full at 90 percent.\nTODO")).text


def test_a_code_block_larger_than_the_screen_loses_whole_lines_visibly():
    code = "\n".join(f"command number {number}" for number in range(200))
    found = ask("Which command is it?", passage(f"```sh\n{code}\n```"))
    assert found.text.startswith("```sh\ncommand number 0\n")
    assert found.text.endswith("\n…\n```\n\n[1]")
    assert lines_of(found.text) <= SCREEN_LINES
    assert found.citations[0].quote in f"```sh\n{code}\n```"


def test_a_sentence_larger_than_the_screen_is_cut_at_a_word():
    found = ask("Where is word?", passage("word " * 2000))
    assert found.text.endswith("word … [1]")
    assert len(found.text) <= SCREEN_CHARACTERS


@pytest.mark.parametrize("passages", [(), (passage(""),), (passage("  \n "),)])
def test_without_text_there_is_no_answer(passages):
    found = ask("Anything?", *passages)
    assert (found.text, found.citations) == ("", ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", "a `b` c"),
        ("a `b c", "a \\`b c"),
        ("``a` b", "\\`\\`a\\` b"),
        ("```\ncode", "```\ncode\n```"),
        ("~~~~\n~~~\n", "~~~~\n~~~\n\n~~~~"),
        ("`a\n\nb`", "\\`a\n\nb\\`"),
        ("1. x\n   ```\n   y", "1. x\n   ```\n   y\n   ```"),
    ],
)
def test_what_a_quote_opens_it_closes(text, expected):
    assert balanced(text) == expected


PIECES = st.sampled_from(
    [
        "backup. ",
        "It ",
        "run:\n",
        "\n\n",
        "```",
        "\n```\n",
        "`",
        "- item\n",
        "1. do\n",
        "| a | b |\n",
        "|--|--|\n",
        "# H\n",
        "备份。",
        "x" * 300,
        "https://a.example/b. ",
        "> ",
        "   ",
        "Why? ",
        "TODO\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=200)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=4), st.sampled_from(["How do I run a backup?", "What is it?", "备份", "item do", ""]))
def test_any_text_is_quoted_literally_within_the_screen_and_balanced(texts, question):
    passages = [passage(text, number, 0.9 - number / 10) for number, text in enumerate(texts, 1)]
    found = ask(question, *passages)
    by_name = {one.document: one.text for one in passages}
    assert all(citation.quote and citation.quote in by_name[citation.document] for citation in found.citations)
    assert [citation.number for citation in found.citations] == list(range(1, len(found.citations) + 1))
    assert len(found.text) <= SCREEN_CHARACTERS
    assert lines_of(found.text) <= SCREEN_LINES
    assert balanced(found.text) == found.text
