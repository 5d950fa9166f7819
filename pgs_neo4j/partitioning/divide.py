"""From communities to partitions: within the limits, and as before where that is as good."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.gds import Communities
from pgs_neo4j.graph.csr import Edges
from pgs_neo4j.graph.limits import Limited, Limits, apply_limits, renumbered, repool
from pgs_neo4j.graph.steady import numbered, steady, unchanged
from pgs_neo4j.partitioning.attempt import Attempt
from pgs_neo4j.partitioning.pool_order import pool_order
from pgs_neo4j.partitioning.predecessor import Before
from pgs_neo4j.partitioning.scan.view import View


@dataclass(frozen=True, slots=True)
class Division:
    """Partitions within the limits; their ids are the labels of ``limited`` from 1.

    ``shared`` are the ids of those that are what they were under the same id before.
    """

    limited: Limited
    shared: frozenset[int] = frozenset()


async def divide(
    attempt: Attempt,
    found: View,
    edges: Edges,
    communities: NDArray[np.int64],
    before: Before | None,
) -> Division:
    """Bring the community of each scanned node (n,) within the limits.

    With ``before``, the generation that the communities grew from, partitions stay what they
    were as long as that is about as good.
    """
    limits = _limits(attempt)
    limited = await asyncio.to_thread(_limited, found, edges, communities, limits, before)
    if np.count_nonzero(limited.pool) > 1:
        pooled = limited.pool[limited.labels]
        order = await pool_order(attempt.db, attempt.mapping, found, pooled)
        limited = repool(limited, found.tokens, limits, order)
    return Division(limited) if before is None else _recognized(limited, before)


def _limits(attempt: Attempt) -> Limits:
    return Limits(
        min_nodes=min(attempt.config.min_community_size, attempt.config.target_partition_max),
        max_nodes=attempt.config.target_partition_max,
        max_tokens=attempt.config.max_partition_tokens,
    )


def placed(found: View, communities: Communities) -> NDArray[np.int64]:
    """Community of each scanned node (n,).

    A node that appeared between the scan and the projection is left to the next generation;
    one that vanished keeps a community of its own until the members are written.
    """
    labels: NDArray[np.int64] = communities.labels.max(initial=0) + 1 + np.arange(len(found.ids))
    place = np.searchsorted(found.ids, communities.ids)
    place[place == len(found.ids)] = 0
    known = found.ids[place] == communities.ids
    labels[place[known]] = communities.labels[known]
    return labels


def _limited(
    found: View,
    edges: Edges,
    communities: NDArray[np.int64],
    limits: Limits,
    before: Before | None,
) -> Limited:
    if before is None:
        return apply_limits(edges, communities, found.tokens, limits)
    return steady(edges, communities, before.labels, before.bound, found.tokens, limits)


def _recognized(limited: Limited, before: Before) -> Division:
    """The same partitions under new numbers: those that did not change keep theirs."""
    sizes = np.asarray([part.size for part in before.partitions])
    same = unchanged(limited.labels, before.labels, sizes)
    other = np.asarray([part.pool for part in before.partitions] + [False])[same] != limited.pool
    touched = np.isin(same + 1, before.compared.touched)
    same[other | touched] = -1
    numbers = numbered(same)
    shared = numbers[(same >= 0) & (numbers == same)] + 1
    return Division(renumbered(limited, numbers), frozenset(shared.tolist()))
