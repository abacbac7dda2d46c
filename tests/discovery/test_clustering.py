"""Clusters found without being told how many there are."""

import numpy as np
import pytest

from discovery import clustering
from discovery.clustering import centrality, cluster
from tests.fakes.gaps import about


def subjects(counts, noise=0.6):
    """Vectors of so many questions on each subject, shuffled, with the subject of each."""
    rows = [(f"s{subject}", about(f"s{subject}", 1000 * subject + number, noise)) for subject, count in enumerate(counts) for number in range(count)]  # fmt: skip
    np.random.default_rng(1).shuffle(rows)
    return np.stack([vector for _, vector in rows]), [name for name, _ in rows]


def agree(labels, names):
    """Whether the clusters are exactly the subjects."""
    return len(set(zip(labels.tolist(), names, strict=True))) == len(set(names)) == len(set(labels.tolist()))


@pytest.mark.parametrize("counts", [[3], [2, 1], [1, 1, 1], [4, 4], [9, 1, 5, 2], [20] * 12, [40, 1, 1, 1, 25, 3]])
def test_subjects_are_found_whatever_their_number_and_size(counts):
    vectors, names = subjects(counts)
    assert agree(cluster(vectors), names)


def test_nothing_and_a_single_question_are_no_problem():
    assert cluster(np.empty((0, 8), dtype=np.float32)).tolist() == []
    assert cluster(about("vpn")[None, :]).tolist() == [0]


def test_every_question_is_in_a_cluster_and_loners_have_their_own():
    vectors, names = subjects([10, 10, 1, 1, 1])
    labels = cluster(vectors)
    assert len(labels) == len(names)
    assert np.bincount(labels).tolist().count(1) == 3


def test_the_same_vectors_give_the_same_clusters():
    vectors, _ = subjects([30, 20, 10, 5], noise=1.2)
    assert cluster(vectors).tolist() == cluster(vectors.copy()).tolist()


def test_clusters_are_numbered_in_the_order_in_which_they_appear():
    labels = cluster(subjects([5, 5, 5])[0]).tolist()
    assert list(dict.fromkeys(labels)) == sorted(set(labels))


def test_identical_questions_are_one_cluster_and_empty_vectors_do_no_harm():
    assert set(cluster(np.repeat(about("vpn")[None, :], 50, axis=0)).tolist()) == {0}
    assert len(cluster(np.zeros((5, 8), dtype=np.float32))) == 5


def test_a_common_part_of_all_questions_does_not_make_them_one_topic():
    """Questions of one product resemble each other: what they share tells no topics apart."""
    vectors, names = subjects([15] * 8)
    shared = vectors + 1.5 * about("the product")
    shared /= np.linalg.norm(shared, axis=1, keepdims=True)
    assert agree(cluster(shared.astype(np.float32)), names)


def test_small_groups_take_the_place_of_questions_where_there_are_many(monkeypatch):
    vectors, names = subjects([60, 40, 30, 20, 10])
    monkeypatch.setattr(clustering, "MOST_IN_TREE", 40)
    labels = cluster(vectors)
    assert labels.tolist() == cluster(vectors).tolist()
    assert agree(labels, names)


def test_the_tree_joins_what_is_nearest_in_wards_sense():
    """Against the textbook: always join the two whose union adds least to the squared distances."""
    vectors = np.random.default_rng(3).normal(size=(25, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tree = clustering._ward(vectors, np.ones(25))
    members = {number: {number} for number in range(25)}
    for number, (left, right) in enumerate(tree.joins.tolist()):
        members[25 + number] = members[left] | members[right]
    assert {frozenset(one) for one in members.values()} == _naive_ward(vectors)


def _naive_ward(vectors):
    groups = [frozenset({number}) for number in range(len(vectors))]
    seen = set(groups)

    def cost(pair):
        left, right = (vectors[list(one)] for one in pair)
        gap = left.mean(axis=0) - right.mean(axis=0)
        return len(left) * len(right) / (len(left) + len(right)) * float(gap @ gap)

    while len(groups) > 1:
        pairs = [(one, other) for place, one in enumerate(groups) for other in groups[place + 1 :]]
        left, right = min(pairs, key=cost)
        groups = [one for one in groups if one not in {left, right}] + [left | right]
        seen.add(left | right)
    return seen


def test_the_most_central_question_is_the_one_nearest_to_all():
    middle = about("vpn", noise=0)
    vectors = np.stack([about("vpn", 1), middle, about("vpn", 2), about("vpn", 3)])
    assert int(centrality(vectors).argmax()) == 1
