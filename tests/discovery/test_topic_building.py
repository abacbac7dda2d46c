"""From open gaps to topics."""

import random
from dataclasses import replace

import pytest

from discovery.gap_groups import group_gaps
from discovery.platforms import load_platforms
from discovery.topic_building import PRIVATE_LABEL, TopicInputs, build_topics
from discovery.topic_identity import Known
from store.gap_activity import Activity
from store.records import Gap, Trend, Visibility
from tests.fakes.gaps import DIMENSION, NOW, gap, wording

PRIVATE = Visibility.PRIVATE
VPN = [gap(f"How do I reset the VPN {word}?", "vpn", number) for number, word in enumerate(["client", "token", "app"])]
MAIL = [gap(f"Which mailbox quota has {word}?", "mail", number) for number, word in enumerate(["sales", "support"])]


def built(*gaps, activity=None, known=()):
    return build_topics(TopicInputs(gaps, activity or {}, known, load_platforms(), NOW))


def ids(topic):
    return set(topic.gap_ids)


def test_gaps_about_the_same_thing_are_one_topic():
    topics = built(*VPN, *MAIL)
    assert {frozenset(ids(topic)) for topic in topics} == {frozenset(one.id for one in gaps) for gaps in (VPN, MAIL)}
    vpn = next(topic for topic in topics if VPN[0].id in topic.gap_ids)
    assert "VPN" in vpn.label
    assert vpn.question in {one.question for one in VPN}
    assert (vpn.count, vpn.trend, vpn.private_gaps) == (3, Trend.NEW, 0)


def test_three_gaps_are_enough_and_none_is_no_problem():
    assert built() == []
    assert sum(len(topic.gap_ids) for topic in built(*VPN)) == 3


def test_the_order_in_which_gaps_come_does_not_matter():
    gaps = [gap(f"Question {number} on {subject}", subject, number) for subject in "abcdef" for number in range(9)]
    shuffled = random.Random(5).sample(gaps, len(gaps))
    assert built(*gaps) == built(*shuffled)


def test_distinct_people_are_counted_over_all_gaps_of_a_topic():
    """One person behind three gaps is one; three people behind one gap are three."""
    one = dict.fromkeys((gap.id for gap in VPN), Activity(frozenset({"slack:U1"})))
    three = {MAIL[0].id: Activity(frozenset({"slack:U2", "slack:U3", "discord:4"}))}
    mail, vpn = built(*VPN, *MAIL, activity=one | three)
    assert (mail.askers, vpn.askers) == (3, 1)
    assert MAIL[0].id in mail.gap_ids


def test_answers_that_people_marked_move_a_topic_up():
    plain = built(*VPN, *MAIL)
    last = plain[-1].gap_ids
    marked = built(*VPN, *MAIL, activity={last[0]: Activity(frozenset({"u"}), unhelpful=9)})
    assert set(marked[0].gap_ids) == set(last)


def test_the_words_of_private_questions_are_never_told():
    """Of a topic that was asked about in private only, there is nothing but its numbers."""
    secret = [
        gap(f"Who is fired in project Falcon {number}?", "falcon", number, visibility=PRIVATE) for number in range(3)
    ]
    (topic,) = built(*secret)
    assert (topic.label, topic.question, topic.terms, topic.platforms) == (PRIVATE_LABEL, "", (), ())
    assert (topic.private_gaps, topic.count) == (3, 3)


def test_a_mixed_topic_is_told_in_public_words_only():
    mixed = [
        gap("Falcon secret token", "vpn", 0, visibility=PRIVATE),
        gap(
            "How is the VPN reset?",
            "vpn",
            1,
            additional_questions=(wording("Falcon vpn", PRIVATE), wording("VPN reset")),
        ),
        gap("VPN reset on Kubernetes nodes", "vpn", 2),
    ]
    (topic,) = built(*mixed)
    shown = " ".join([topic.label, topic.question, *topic.terms, *topic.platforms])
    assert not any(word in shown.casefold() for word in ("falcon", "secret"))
    assert (topic.platforms, topic.private_gaps, len(topic.gap_ids)) == (("Kubernetes",), 1, 3)


def test_a_topic_keeps_its_name_and_says_how_it_moved():
    first = built(*VPN, *MAIL)
    known = [Known(topic.id, frozenset(topic.gap_ids), topic.count, True) for topic in first]
    more = [replace(VPN[0], count=5), *VPN[1:], gap("VPN reset on Linux", "vpn", 9)]
    second = {topic.label: topic for topic in built(*more, *MAIL, gap("Where is the car park?", "car"), known=known)}
    trends = {topic.trend for topic in second.values()}
    assert trends == {Trend.GROWING, Trend.STEADY, Trend.NEW}
    kept = {topic.id for topic in second.values() if topic.trend is not Trend.NEW}
    assert kept == {topic.id for topic in first}


@pytest.mark.parametrize("vector", [b"", b"\0" * 8, b"odd", b"\0" * DIMENSION * 8])
def test_a_gap_without_a_comparable_vector_joins_by_its_words(vector):
    stray = gap("How do I reset the VPN connection?", vector=vector)
    alone = gap("Where can I park the lorry?", vector=vector)
    groups = group_gaps([*VPN, *MAIL, stray, alone])
    home = next(group for group in groups if stray in group)
    assert {one.id for one in VPN} < {one.id for one in home}
    assert [alone] in groups


def test_without_any_vector_gaps_are_brought_together_by_words():
    bare = [replace(one, vector=b"") for one in (*VPN, *MAIL)]
    assert {frozenset(one.question.split()[-2] for one in group) for group in group_gaps(bare)}
    assert sorted(len(group) for group in group_gaps(bare)) == [2, 3]


def test_questions_without_any_word_stay_apart_and_get_a_label():
    topics = built(gap("??"), gap("..."), gap("👍"))
    assert sorted(topic.label for topic in topics) == ["...", "??", "👍"]


def test_every_gap_is_in_exactly_one_topic():
    gaps: list[Gap] = [gap(f"Question {n} on {s}", s if n % 4 else "", n) for s in "abcdefgh" for n in range(12)]
    found = [gap_id for topic in built(*gaps) for gap_id in topic.gap_ids]
    assert sorted(found) == sorted(one.id for one in gaps)
