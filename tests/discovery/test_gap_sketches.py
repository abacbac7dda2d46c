"""What the signs of vectors propose: all that is near enough, little else, whatever comes and goes."""

from __future__ import annotations

import numpy as np

from discovery.gap_sketches import GapSketches

DIMENSION = 384


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def directions(count, seed=7):
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION)))


def name(number):
    return f"{number:032x}"


def filled(vectors):
    sketches = GapSketches()
    for number, vector in enumerate(vectors):
        sketches.add(name(number), vector)
    return sketches


def test_what_is_near_enough_is_proposed_first_among_thousands():
    vectors = directions(5_000)
    noise = directions(200, seed=8)
    asked = unit(vectors[:200] + 0.45 * noise)
    cosines = np.sum(asked * vectors[:200], axis=1)
    assert 0.9 < cosines.min() < 0.92
    sketches = filled(vectors)
    assert [sketches.near(vector, 0.9)[:1] for vector in asked] == [[name(number)] for number in range(200)]


def test_what_has_nothing_in_common_is_not_proposed():
    assert filled(directions(5_000)).near(directions(1, seed=9)[0], 0.9) == []


def test_no_more_than_32_are_proposed():
    assert len(filled(np.tile(directions(1), (40, 1))).near(directions(1)[0], 0.9)) == 32


def test_a_gap_is_known_once_it_is_added_and_until_it_is_left_out():
    sketches = filled(directions(2_000))
    assert len(sketches) == 2_000
    assert name(1_999) in sketches
    assert name(2_000) not in sketches
    assert sketches.missing([name(2_000), name(3), name(2_001)]) == [name(2_000), name(2_001)]
    sketches.keep([name(5), name(1_500), name(9_999)])
    assert len(sketches) == 2
    assert sketches.near(directions(2_000)[1_500], 0.9) == [name(1_500)]
    assert sketches.near(directions(2_000)[1_499], 0.9) == []


def test_an_id_that_ends_in_zeros_comes_back_whole():
    ids = ["0" * 32, "ab" + "0" * 30, "ab" * 16]
    sketches = GapSketches()
    for gap_id in ids:
        sketches.add(gap_id, directions(1)[0])
    assert sketches.near(directions(1)[0], 0.9) == ids
    assert sketches.missing([*ids, "0" * 31 + "1"]) == ["0" * 31 + "1"]
    assert "ab" + "0" * 30 in sketches


def test_vectors_of_another_length_or_none_at_all_stay_apart():
    sketches = filled(directions(3))
    sketches.add(name(8), np.ones(8, dtype=np.float32))
    sketches.add(name(9), np.empty(0, dtype=np.float32))
    assert len(sketches) == 5
    assert sketches.near(np.ones(8, dtype=np.float32), 0.9) == [name(8)]
    assert sketches.near(np.empty(0, dtype=np.float32), 0.9) == []
    assert sketches.near(np.ones(100, dtype=np.float32), 0.9) == []
    assert sketches.missing([name(9)]) == []
