"""Partitions of the published procedure, from its description.

One level of Louvain; small communities are merged into the neighbor with the most shared weight,
and large ones are bisected once. It uses no part of the engine.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

MIN_NODES, MAX_NODES = 30, 1800
ROUNDS = 20
LEAST_GAIN = 1e-10
BALANCE = 0.1  # of the heaviest weight, for each node that a half has more than the other

Adjacency = list[dict[int, float]]


def partitions(
    count: int, edges: Iterable[tuple[int, int, float]], seed: int = 1
) -> list[list[int]]:
    """The partitions of nodes ``0 .. count - 1``, largest first; every node is in one."""
    near: Adjacency = [{} for _ in range(count)]
    for source, target, weight in edges:
        if source != target:
            near[source][target] = near[source].get(target, 0.0) + weight
            near[target][source] = near[target].get(source, 0.0) + weight
    labels = _merged(near, louvain(near, seed))
    groups = _groups(labels)
    parts = [part for group in groups for part in _fitting(near, group)]
    return sorted(parts, key=lambda part: (-len(part), part))


def louvain(near: Adjacency, seed: int) -> list[int]:
    """The first phase of Louvain: nodes move while that gains modularity, 20 rounds at most."""
    order = list(range(len(near)))
    strength = [sum(groups.values()) for groups in near]
    twice = sum(strength)
    labels, total = list(range(len(near))), list(strength)
    rng = random.Random(seed)
    for _ in range(ROUNDS if twice else 0):
        rng.shuffle(order)
        moved = False
        for node in order:
            own = labels[node]
            total[own] -= strength[node]
            shared: dict[int, float] = defaultdict(float)
            for other, weight in near[node].items():
                shared[labels[other]] += weight
            gains = {
                label: weight - strength[node] * total[label] / twice
                for label, weight in shared.items()
            }
            stay = gains.get(own, -strength[node] * total[own] / twice)
            best = max(gains, key=lambda label: gains[label], default=own)
            if gains.get(best, stay) - stay > LEAST_GAIN:
                labels[node], moved = best, True
            total[labels[node]] += strength[node]
        if not moved:
            break
    return labels


def _merged(near: Adjacency, labels: list[int]) -> list[int]:
    """Each community that is too small joins its nearest, until none has a nearest any more."""
    members = {group[0]: group for group in _groups(labels)}
    labels = list(labels)
    for label, group in members.items():
        for node in group:
            labels[node] = label
    while True:
        small = sorted((len(group), label) for label, group in members.items())
        for size, label in small:
            if size >= MIN_NODES:
                return labels
            shared: dict[int, float] = defaultdict(float)
            for node in members[label]:
                for other, weight in near[node].items():
                    if labels[other] != label:
                        shared[labels[other]] += weight
            if shared:
                into = max(shared, key=lambda other: (shared[other], -other))
                members[into] += members.pop(label)
                for node in members[into]:
                    labels[node] = into
                break
        else:
            return labels


def _groups(labels: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for node, label in enumerate(labels):
        groups[label].append(node)
    return list(groups.values())


def _fitting(near: Adjacency, group: list[int]) -> list[list[int]]:
    """A community, or its two halves when it is too large; halves are not looked at again."""
    if len(group) <= MAX_NODES:
        return [group]
    inside = set(group)
    heaviest = max((weight for node in group for weight in near[node].values()), default=1.0)
    halves: tuple[set[int], set[int]] = ({group[0]}, {group[-1]})
    for node in group[1:-1]:
        scores = []
        for mine, other in (halves, halves[::-1]):
            shared = sum(w for n, w in near[node].items() if n in mine and n in inside)
            scores.append(shared - BALANCE * heaviest * max(0, len(mine) - len(other)))
        halves[scores[1] > scores[0]].add(node)
    return [sorted(half) for half in halves]
