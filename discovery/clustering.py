"""Clusters of vectors, without being told how many: for topics of questions. Pure and deterministic.

What all vectors have in common is taken out, each one is drawn towards its nearest neighbours, and a Ward tree is cut
wherever two branches are no more alike than :data:`SAME_TOPIC`. Every vector ends in a cluster, if need be in one of
its own: a bin for noise would hide questions. From :data:`MOST_IN_TREE` vectors on, the tree is grown over the centres
of small groups instead, since its cost rises with the square of their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.vectors import Vector

Matrix = NDArray[np.float32]
Labels = NDArray[np.int64]

SAME_TOPIC = 0.55
"""Mean cosine of two branches, after smoothing, from which they are one topic.

On customer questions, assistant requests and forum questions alike, agreement with the labels hardly changes between
0.45 and 0.65; lower values merge, higher ones split.
"""
MOST_IN_TREE = 3000
"""Vectors that go into the tree one by one."""
_NEIGHBOURS = 10
_SHRINK = 50
"""The common part of n vectors is believed as far as n exceeds this: of three, most is chance."""
_PASSES = 4
_ROWS = 4096
_SEED = 20


@dataclass(frozen=True, slots=True)
class _Tree:
    """A binary tree over weighted leaves: inner node ``leaves + i`` joins the two nodes of ``joins[i]``."""

    joins: NDArray[np.int64]
    sums: NDArray[np.float64]
    weights: NDArray[np.float64]

    @property
    def leaves(self) -> int:
        return len(self.joins) + 1


def cluster(vectors: Matrix, same_topic: float = SAME_TOPIC) -> Labels:
    """The cluster of each vector.

    Args:
        vectors: one row each, of unit length.
        same_topic: mean cosine from which branches are joined, in [0, 1], see :data:`SAME_TOPIC`.

    Returns:
        Numbers from 0 on, in the order in which the clusters first appear.
    """
    if len(vectors) == 0:
        return np.empty(0, dtype=np.int64)
    if len(vectors) <= MOST_IN_TREE:
        return _in_order(_grouped(_centred(vectors), np.ones(len(vectors)), same_topic))
    centred = _centred(vectors)
    small = _small_groups(centred, MOST_IN_TREE)
    weights = np.bincount(small).astype(np.float64)
    return _in_order(_grouped(_unit(_sums(centred, small, len(weights))), weights, same_topic)[small])


def centrality(vectors: Matrix) -> Vector:
    """How close each vector is to the middle of them all: the cosine with their mean, in [-1, 1]."""
    return np.asarray(_unit(vectors) @ _unit(vectors.mean(axis=0, keepdims=True))[0], dtype=np.float32)


def _grouped(vectors: Matrix, weights: NDArray[np.float64], same_topic: float) -> Labels:
    smooth = _smoothed(vectors)
    return _cut(_ward(smooth, weights), same_topic)


def _centred(vectors: Matrix) -> Matrix:
    common = vectors.sum(axis=0, keepdims=True) / (len(vectors) + _SHRINK)
    return _unit(vectors - common)


def _smoothed(vectors: Matrix) -> Matrix:
    """Each vector plus its nearest neighbours, weighted by the square of the cosine: near ones pull, far ones don't."""
    count = len(vectors)
    neighbours = min(_NEIGHBOURS, count - 1)
    if neighbours < 1:
        return vectors
    smooth = vectors.copy()
    for start in range(0, count, _ROWS):
        rows = slice(start, min(start + _ROWS, count))
        likeness = vectors[rows] @ vectors.T
        likeness[np.arange(likeness.shape[0]), np.arange(rows.start, rows.stop)] = -1
        nearest = np.argpartition(-likeness, neighbours - 1, axis=1)[:, :neighbours]
        pull = np.maximum(np.take_along_axis(likeness, nearest, axis=1), 0) ** 2
        smooth[rows] += np.einsum("rn,rnd->rd", pull, vectors[nearest])
    return _unit(smooth)


def _ward(vectors: Matrix, weights: NDArray[np.float64]) -> _Tree:
    """Ward's tree by nearest-neighbour chains."""
    count, size = vectors.shape
    sums = np.zeros((2 * count - 1, size))
    sums[:count] = vectors * weights[:, None]
    totals = np.zeros(2 * count - 1)
    totals[:count] = weights
    distance = _ward_distances(vectors, weights)
    node, weight = np.arange(count), weights.copy()
    joins = np.zeros((count - 1, 2), dtype=np.int64)
    chain: list[int] = []
    first = 0
    for step in range(count - 1):
        if not chain:
            while np.isinf(weight[first]):
                first += 1
            chain.append(first)
        left, right = _mutual_neighbours(distance, chain)
        joins[step] = node[left], node[right]
        new = count + step
        sums[new] = sums[node[left]] + sums[node[right]]
        totals[new] = weight[left] + weight[right]
        _merge(distance, weight, left, right)
        node[left] = new
    return _Tree(joins, sums, totals)


def _ward_distances(vectors: Matrix, weights: NDArray[np.float64]) -> Matrix:
    mass = weights.astype(np.float32)
    apart = np.maximum(2 - 2 * (vectors @ vectors.T), 0)
    distance = apart * (mass[:, None] * mass[None, :] / (mass[:, None] + mass[None, :]))
    np.fill_diagonal(distance, np.inf)
    return np.asarray(distance, dtype=np.float32)


def _mutual_neighbours(distance: Matrix, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours from the end of the chain to two that are each other's; takes them off the chain."""
    while True:
        last = chain[-1]
        nearest = int(distance[last].argmin())
        if len(chain) > 1 and distance[last, chain[-2]] <= distance[last, nearest]:
            other = chain[-2]
            del chain[-2:]
            return min(last, other), max(last, other)
        chain.append(nearest)


def _merge(distance: Matrix, weight: NDArray[np.float64], left: int, right: int) -> None:
    """Lance and Williams' update for Ward: ``left`` becomes both, ``right`` is out of reach."""
    one, other = weight[left], weight[right]
    with np.errstate(invalid="ignore"):  # nodes that are out of reach stand at infinity
        row = (one + weight) * distance[left] + (other + weight) * distance[right] - weight * distance[left, right]
        row = (row / (one + other + weight)).astype(np.float32)
    row[~np.isfinite(row)] = np.inf
    row[[left, right]] = np.inf
    distance[left], distance[:, left] = row, row
    distance[right], distance[:, right] = np.inf, np.inf
    weight[left], weight[right] = one + other, np.inf


def _cut(tree: _Tree, same_topic: float) -> Labels:
    """From the root down: part two branches whose members are, on average, less alike than ``same_topic``."""
    labels = np.zeros(tree.leaves, dtype=np.int64)
    todo, found = [2 * tree.leaves - 2], 0
    while todo:
        node = todo.pop()
        if node >= tree.leaves:
            left, right = tree.joins[node - tree.leaves]
            alike = float(tree.sums[left] @ tree.sums[right] / (tree.weights[left] * tree.weights[right]))
            if alike < same_topic:
                todo += [int(left), int(right)]
                continue
        labels[_leaves_below(tree, node)] = found
        found += 1
    return labels


def _leaves_below(tree: _Tree, node: int) -> list[int]:
    found, todo = [], [node]
    while todo:
        at = todo.pop()
        if at < tree.leaves:
            found.append(at)
        else:
            todo += [int(one) for one in tree.joins[at - tree.leaves]]
    return found


def _small_groups(vectors: Matrix, count: int) -> Labels:
    """At most ``count`` groups of near neighbours, by a few passes of spherical k-means from a fixed random start."""
    start = np.random.default_rng(_SEED).choice(len(vectors), count, replace=False)
    centres = vectors[np.sort(start)]
    for _ in range(_PASSES):
        labels = _nearest(vectors, centres)
        _, labels = np.unique(labels, return_inverse=True)
        centres = _unit(_sums(vectors, labels, int(labels.max()) + 1))
    return labels


def _nearest(vectors: Matrix, centres: Matrix) -> Labels:
    found = [(vectors[start : start + _ROWS] @ centres.T).argmax(axis=1) for start in range(0, len(vectors), _ROWS)]
    return np.concatenate(found)


def _sums(vectors: Matrix, labels: Labels, count: int) -> Matrix:
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(count))
    return np.add.reduceat(vectors[order], starts, axis=0)


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)


def _in_order(labels: Labels) -> Labels:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(rank[inverse], dtype=np.int64)
