"""What a question names is what nobody paraphrases."""

from __future__ import annotations

import pytest

from bot.answering.named import named


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is the per diem for France?", ["France"]),
        ("What does error E999 mean?", ["E999"]),
        ("Who is on call in 2024-W30?", ["2024-W30"]),
        ("Does it work with v4.1.2?", ["v4.1.2"]),
        ("why does node_exporter 1.8 restart", ["1.8"]),
        ("How do I reset my badge PIN?", ["PIN"]),
        ("what are the 2 ways to do this", []),
        ("how many of the 1500 seats are free", ["1500"]),
        ("Reset the VPN. Then what? Ask Ana (Ben is away).", ["VPN", "Ana"]),
        ("How To Reset My Client", []),
        ("HOW DO I RESET THE CLIENT", []),
        ("What should I do?", []),
        ("如何重置密码", []),
        ("", []),
    ],
)
def test_codes_numbers_and_capitals_inside_a_sentence_are_names(question, names):
    assert list(named(question)) == names


def test_a_name_comes_with_the_stem_by_which_the_index_knows_it():
    assert named("Is it in 2024-W30 or v4.1?") == {"2024-W30": "2024-w30", "v4.1": "4.1"}
