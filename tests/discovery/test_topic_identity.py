"""Topics keep their names from round to round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discovery.topic_identity import Known, new_id, recognised, trend
from store.records import Trend


def known(name, gaps, count=1, latest=True):
    return Known(name, frozenset(gaps), count, latest)


def names(groups, *topics):
    return [topic and topic.id for topic in recognised([tuple(group) for group in groups], topics)]


def test_a_topic_that_grows_shrinks_or_moves_a_little_stays_itself():
    assert names(["abcd", "efg"], known("t1", "abc"), known("t2", "efgh")) == ["t1", "t2"]
    assert names(["abcdxy", "e"], known("t1", "abcde")) == ["t1", None]


def test_of_a_topic_that_splits_the_larger_part_keeps_the_name():
    assert names(["ab", "cde"], known("t1", "abcde")) == [None, "t1"]
    assert names(["abcd", "efg", "hij"], known("t1", "abcdefghij")) == ["t1", None, None]


def test_of_topics_that_merge_the_larger_one_gives_the_name():
    assert names(["abcde"], known("t1", "ab"), known("t2", "cde")) == ["t2"]


def test_a_topic_of_which_most_gaps_were_closed_is_recognised_by_the_rest():
    assert names(["ab"], known("t1", "abcdefgh")) == ["t1"]


def test_one_gap_that_wandered_does_not_carry_the_name_of_its_topic():
    assert names(["axyz", "bcd"], known("t1", "abcd")) == [None, "t1"]
    assert names(["axyz"], known("t1", "a")) == ["t1"]


def test_a_topic_of_the_latest_round_comes_before_one_that_was_gone():
    assert names(["abc"], known("t1", "bc"), known("old", "abc", latest=False)) == ["t1"]
    assert names(["abc"], known("old", "abc", latest=False)) == ["old"]


gap_sets = st.lists(st.frozensets(st.integers(0, 30), min_size=1, max_size=8), max_size=6)


def _disjoint(sets):
    seen, found = set(), []
    for one in sets:
        rest = one - seen
        seen |= one
        if rest:
            found.append(tuple(str(gap) for gap in sorted(rest)))
    return found


@given(gap_sets, gap_sets)
def test_every_group_is_at_most_one_topic_and_every_topic_at_most_one_group(groups, topics):
    topics = [Known(str(number), frozenset(gaps), 1, True) for number, gaps in enumerate(_disjoint(topics))]
    found = [topic for topic in recognised(_disjoint(groups), topics) if topic]
    assert len(found) == len({topic.id for topic in found})


@given(gap_sets)
def test_when_nothing_changes_every_topic_stays_itself(groups):
    groups = _disjoint(groups)
    topics = [Known(str(number), frozenset(gaps), 1, True) for number, gaps in enumerate(groups)]
    assert recognised(groups, topics) == topics


def test_a_new_id_is_one_that_nobody_has():
    first = new_id(["b", "a"], ())
    assert first == new_id(["a", "b"], ())
    assert len(first) == 12
    assert new_id(["a", "b"], {first}) != first


@pytest.mark.parametrize(
    ("before", "count", "expected"),
    [
        (None, 3, Trend.NEW),
        (known("t", "a", 3, latest=False), 3, Trend.RETURNING),
        (Known("t", frozenset("a"), 0, latest=False, unheard=True), 3, Trend.NEW),
        (known("t", "a", 3), 4, Trend.GROWING),
        (known("t", "a", 100), 105, Trend.STEADY),
        (known("t", "a", 100), 110, Trend.GROWING),
        (known("t", "a", 100), 95, Trend.STEADY),
        (known("t", "a", 100), 90, Trend.SHRINKING),
        (known("t", "a", 0), 0, Trend.STEADY),
    ],
)
def test_the_trend_compares_with_what_people_were_told_last(before, count, expected):
    assert trend(before, count) is expected
