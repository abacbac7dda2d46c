"""What fits into a window is counted carefully, and a prompt that was cut without a word is noticed."""

from __future__ import annotations

import pytest

from bot.answering.llm_budget import Window, estimated_tokens, fitting, prompt_tokens, truncation
from bot.answering.llm_wire import Usage

WINDOW = Window(tokens=8192, answer=500)


@pytest.mark.parametrize("text", ["", " ", "\n", "word", "a_long_identifier.with.parts", "1234567890", "如何重置密码"])
def test_an_estimate_grows_with_the_text(text):
    assert 0 < estimated_tokens(text) <= estimated_tokens(f"{text} and more")


def test_estimates_of_prose_code_and_chinese_are_near_what_tokenizers_count():
    """Bounds that the tokenizers of common models keep: a token is about four letters of prose, three of code."""
    prose = "To reset the VPN client, press the blue button and sign in again with your usual password. " * 20
    code = "kubectl get pods --namespace=default -o jsonpath='{.items[0].metadata.name}'\n" * 20
    chinese = "如何重置虚拟专用网络客户端的密码并重新登录。" * 20
    assert len(prose) / 5 < estimated_tokens(prose) < len(prose) / 3
    assert len(code) / 4.5 < estimated_tokens(code) < len(code) / 2
    assert 0.7 * len(chinese) < estimated_tokens(chinese) < 2 * len(chinese)


def test_a_prompt_counts_its_messages():
    one = {"role": "user", "content": "Hello"}
    assert prompt_tokens([one, one]) == 2 * prompt_tokens([one]) > 2 * estimated_tokens("Hello")


def test_texts_fit_from_the_first_on():
    texts = ["one two three"] * 5
    each = estimated_tokens(texts[0])
    assert [fitting(texts, room) for room in (0, each - 1, each, 3 * each, 99 * each)] == [0, 0, 1, 3, 5]


def test_the_answer_keeps_its_room():
    assert (Window(4096, 500).prompt, Window(400, 500).prompt) == (3596, 0)


@pytest.mark.parametrize(
    ("estimate", "usage", "sign"),
    [
        (7900, Usage(2050, 40), "2050 tokens of a prompt of about 7900"),
        (3000, Usage(3900, 196), "exactly 4096"),
        (7900, Usage(7800, 392), "full"),
    ],
)
def test_a_cut_prompt_shows_in_the_count(estimate, usage, sign):
    assert sign in truncation(estimate, usage, WINDOW)


@pytest.mark.parametrize("usage", [None, Usage(0, 40), Usage(2800, 120), Usage(3500, 500), Usage(1500, 30)])
def test_other_counts_are_no_sign(usage):
    """Also not a server that does not count, nor another tokenizer."""
    assert truncation(3000, usage, WINDOW) == ""
