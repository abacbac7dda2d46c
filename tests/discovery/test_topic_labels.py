"""What topics are called."""

import pytest

from discovery.topic_labels import name_topics, shortened

VPN = ["How do I reset the VPN?", "Resetting the VPN client", "VPN reset on Windows", "reset my vpn"]
MAIL = ["Which mailbox quota do we have?", "Is the mailbox quota 5 GB?", "mailbox quota", "How large is my mailbox?"]


def labels(*topics):
    return [one.label for one in name_topics(topics)]


def test_a_label_holds_the_words_that_tell_topics_apart_as_people_write_them():
    vpn, mail = name_topics([VPN, MAIL])
    assert vpn.label == "reset, VPN"
    assert mail.label.startswith("mailbox quota")


def test_words_of_all_topics_tell_none_apart():
    common = [[f"please help with the portal: {word} {word2}" for word2 in ("today", "again")] for word in ("printer", "salary", "parking")]  # fmt: skip
    assert [label.split(", ")[0].split(" ")[0] for label in labels(*common)] == ["printer", "salary", "parking"]


def test_the_most_frequent_spelling_is_shown_never_a_stem():
    label = labels(
        ["deploying services", "service deployment", "deploying a service", "deploying many services"], MAIL
    )[0]
    assert "deploying" in label
    assert not {"deploy", "servic"} & set(label.replace(",", "").split())


def test_chinese_questions_get_a_chinese_label():
    """An empty or broken label for Chinese was a fault of clusters labelled by English words only."""
    found = name_topics([["如何重置", "重置密码"], ["公司的年假有几天", "年假怎么申请"]])
    assert found[0].label == "重置、密码"
    assert "年假" in found[1].label


@pytest.mark.parametrize("questions", [["??", "..."], ["what is it and how", "this?"], ["👍"]])
def test_where_no_word_says_anything_the_most_central_question_is_the_label(questions):
    (found,) = name_topics([questions])
    assert (found.label, found.terms) == (questions[0], ())


def test_a_topic_without_public_questions_has_no_words():
    empty, vpn = name_topics([[], VPN])
    assert (empty.label, empty.terms) == ("", ())
    assert vpn.label == "reset, VPN"
    assert name_topics([]) == []


def test_terms_are_distinct_and_a_word_of_one_question_only_is_left_out_of_a_larger_topic():
    (vpn,) = name_topics([VPN])
    assert len({term.casefold() for term in vpn.terms}) == len(vpn.terms)
    assert "Windows" not in " ".join(vpn.terms)


def test_contractions_and_single_letters_are_no_words():
    (found,) = name_topics([["I don't see why it doesn't x work, I'm lost", "can't won't printer"]])
    assert not any("'" in term or len(term) < 2 for term in found.terms)


def test_a_long_label_is_cut_between_words():
    assert shortened("word " * 40, 22) == "word word word word…"
    assert shortened("x" * 100, 10) == "x" * 9 + "…"
    assert all(len(label) <= 60 for label in labels(["a" * 79 + " " + "b" * 79]))


def test_labels_do_not_depend_on_the_order_of_the_questions():
    assert set(labels(VPN, MAIL)) == set(labels(MAIL[::-1], VPN[::-1]))
