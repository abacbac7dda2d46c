"""Facts about follow-up questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.conversation import HISTORY_TURNS, LONGEST, standalone
from store.records import Turn

INSTALL = "How do I install the agent on Linux?"
ROTATE = "How do I rotate certificates?"
V1 = "What changed in v1 of the API?"
ZH = "如何在 Linux 上安装代理？"


def said(*texts):
    return [Turn("user", text) for text in texts]


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (INSTALL, "and on Windows?", "How do I install the agent on Windows?"),
        (INSTALL, "What about Windows?", "How do I install the agent on Windows?"),
        (INSTALL, "how about on macOS", "How do I install the agent on macOS?"),
        (INSTALL, "on Windows?", "How do I install the agent on Windows?"),
        (INSTALL, "ok, and for windows?", "How do I install the agent on windows?"),
        (INSTALL, "And in the cloud?", "How do I install the agent on Linux in the cloud?"),
        (V1, "what about v2?", "What changed in v2 of the API?"),
        (V1, "and 2.1?", "What changed in 2.1 of the API?"),
        (ROTATE, "and on Windows?", "How do I rotate certificates on Windows?"),
        (ROTATE, "what about secrets?", f"{ROTATE} what about secrets?"),
        (ROTATE, "why?", f"{ROTATE} why?"),
        (ROTATE, "How often?", f"{ROTATE} How often?"),
        (ROTATE, "how do I undo that?", f"{ROTATE} how do I undo that?"),
        (ROTATE, "Does that work with Vault?", f"{ROTATE} Does that work with Vault?"),
        (ROTATE, "Is that documented?", f"{ROTATE} Is that documented?"),
        (INSTALL, "in production?", "How do I install the agent on Linux in production?"),
        (ROTATE, "can I automate it?", f"{ROTATE} can I automate it?"),
        (ROTATE, "any examples?", f"{ROTATE} any examples?"),
        ("How do I change my PIN in the app?", "and in the branch?", "How do I change my PIN in the branch?"),
        (ZH, "那在 Windows 上呢？", "如何在 Windows 上安装代理？"),
        (ZH, "Windows 呢？", "如何在 Windows 上安装代理？"),
        (ZH, "那 macOS 呢", "如何在 macOS 上安装代理？"),
        ("v1 有哪些变化？", "那 v2 呢？", "v2 有哪些变化？"),
        ("如何轮换证书？", "为什么？", "如何轮换证书？ 为什么？"),
        ("如何轮换证书？", "怎么撤销它？", "如何轮换证书？ 怎么撤销它？"),
        ("如何轮换证书？", "那密钥呢？", "如何轮换证书？ 那密钥呢？"),
    ],
)
def test_a_follow_up_is_joined_with_what_it_follows(before, question, expected):
    assert standalone(question, said(before)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "How do I delete a namespace?",
        "Is it possible to restore a backup?",
        "How long does it take to rotate the certificates?",
        "If a pod crashes, how do I restart it?",
        "What is the command that lists pods?",
        "Which alerts say that etcd has no leader?",
        "What does KubePodCrashLooping mean?",
        "And how do I delete a namespace?",
        "Kubernetes",
        "如何删除命名空间？",
        "ok",
        "thanks!",
        "谢谢",
        "什么是命名空间？",
        "命名空间是什么呢？",
        "证书应该由谁轮换呢？",
        "It is a very long story about a cluster with many nodes and a certificate",
        "",
        "   ",
        "?",
        "why\nis this so long and on several lines",
    ],
)
def test_a_complete_question_stays_untouched(question):
    assert standalone(question, said(INSTALL)) == question


def test_without_history_a_follow_up_stays_untouched():
    assert standalone("and on Windows?", []) == "and on Windows?"
    assert standalone("why?", [Turn("assistant", "Because the agent needs it.")]) == "why?"
    assert standalone("why?", said("hm?", "and?")) == "why?"


def test_a_chain_of_follow_ups_keeps_the_last_platform():
    history = said(INSTALL, "and on Windows?", "why?")
    assert standalone("how do I undo that?", history) == "How do I install the agent on Windows? how do I undo that?"
    assert standalone("and on macOS?", history) == "How do I install the agent on macOS?"


def test_what_the_bot_said_is_no_question():
    history = [Turn("user", ROTATE), Turn("assistant", "How do I reboot the server on Linux?")]
    assert standalone("and on Windows?", history) == "How do I rotate certificates on Windows?"


def test_turns_before_the_last_ten_are_forgotten():
    recent = [Turn("assistant", "ok")] * HISTORY_TURNS
    assert standalone("why?", [Turn("user", ROTATE), *recent]) == "why?"
    assert standalone("why?", [Turn("user", ROTATE), *recent[1:]]) == f"{ROTATE} why?"


def test_a_joined_question_that_would_be_too_long_stays_as_asked():
    assert standalone("why?", said("word " * 150)) == "why?"


def test_a_caller_may_know_further_platforms():
    before = said("How do I install the agent on Foonix?")
    assert standalone("what about Barnix?", before, frozenset({"foonix", "barnix"})) == (
        "How do I install the agent on Barnix?"
    )


@given(st.text(max_size=150), st.lists(st.text(max_size=700), max_size=4))
def test_any_text_gives_a_question_of_bounded_length(question, earlier):
    assert len(standalone(question, said(*earlier))) <= max(LONGEST, len(question))
