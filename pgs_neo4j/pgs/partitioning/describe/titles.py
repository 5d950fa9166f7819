"""Collects the titles of a partition's heaviest nodes, and of nodes in neighboring partitions.

The prompt of a sweep shows titles of each neighboring partition, so that the model recognizes it.
These titles belong to the nodes with the most relationships to the partition that is read.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.graph.adjacency import Reached, reach
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.view import View
from pgs_neo4j.text.node_text import shortened, title_of

TITLES = 8  # number of titles of a partition
LENGTH = 60  # maximum characters of a title
# Bounds for the number of titles from all neighbors together. Within these bounds, it is the number
# of nodes in the partition.
FEWEST_REACHED, MOST_REACHED = 60, 200
MOST_EACH = 60  # maximum number of titles of one neighbor
BATCH = 10_000  # nodes read at once
READ_AHEAD = 3  # nodes read per title, since some nodes have no title, or share one


async def add_titles(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partitions: Sequence[Partition],
    fresh: Sequence[Partition],
) -> list[Partition]:
    """Return ``fresh`` with the titles of their heaviest nodes, and store the neighbors' titles.

    ``partitions`` are all partitions of the generation, by id from 1. ``members`` are their
    members, in the order of ``view``. Raises LeaseLostError.
    """
    if not (order.mapping.has_text or order.mapping.has_title):
        return list(fresh)
    central = _find_heaviest(members, [part.id for part in fresh])
    reached = await asyncio.to_thread(_reach_neighbors, view, members, partitions)
    ids = np.unique(np.concatenate((view.ids[reached.node], *central.values())))
    titles = await read_titles(tools.db, order.mapping, ids)
    rows = _make_link_rows(reached, view.ids, titles, {part.id: part.uid for part in partitions})
    await generation.write_reached(tools.db, order.graph, order.generation_id, rows)
    return [
        replace(part, titles=_drop_repeats((titles[i] for i in central[part.id].tolist()), TITLES))
        for part in fresh
    ]


def _find_heaviest(
    members: Membership, partition_ids: Sequence[int]
) -> dict[int, NDArray[np.int64]]:
    """Return the ids ``(k,)`` of the heaviest nodes of each partition, heaviest first."""
    heavy = np.flatnonzero(members.rank < READ_AHEAD * TITLES)
    heavy = heavy[np.lexsort((members.rank[heavy], members.partition_ids[heavy]))]
    owners = members.partition_ids[heavy]
    starts = np.searchsorted(owners, partition_ids, side="left").tolist()
    ends = np.searchsorted(owners, partition_ids, side="right").tolist()
    return {
        part: members.nodes[heavy[start:end]]
        for part, start, end in zip(partition_ids, starts, ends, strict=True)
    }


def _reach_neighbors(view: View, members: Membership, partitions: Sequence[Partition]) -> Reached:
    sizes = np.array([0, *(part.size for part in partitions)])
    return reach(
        (view.source, view.target),
        members.partition_ids,
        members.rank,
        [(part.id, near.id) for part in partitions for near in part.adjacent],
        np.clip(sizes, FEWEST_REACHED, MOST_REACHED),
        MOST_EACH,
    )


def _make_link_rows(
    reached: Reached,
    ids: NDArray[np.int64],
    titles: Mapping[int, str],
    uids: Mapping[int, str],
) -> list[Row]:
    """Return the rows of ``write_reached``."""
    by_link: dict[tuple[int, int], list[str]] = defaultdict(list)
    columns = (reached.owner.tolist(), reached.neighbor.tolist(), ids[reached.node].tolist())
    for owner, neighbor, node in zip(*columns, strict=True):
        by_link[owner, neighbor].append(titles[node])
    return [
        {"source": uids[owner], "target": uids[neighbor], "titles": list(_drop_repeats(names))}
        for (owner, neighbor), names in by_link.items()
    ]


def _drop_repeats(titles: Iterable[str], most: int | None = None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, titles)))[:most]


async def read_titles(
    db: Database, mapping: GraphMapping, ids: NDArray[np.int64]
) -> dict[int, str]:
    """Return the titles of nodes by id; empty for a node without a title. ``ids`` is ``(k,)``."""
    titles = dict.fromkeys(ids.tolist(), "")
    for start in range(0, len(ids), BATCH):
        rows = await db.read(
            queries.get("pgs/partitioning/describe/read_titles"),
            ids=ids[start : start + BATCH].tolist(),
            title=mapping.title_properties,
            text=mapping.text_properties,
            key=mapping.key_properties,
        )
        columns = (rows[0][name] for name in ("ids", "titles", "texts", "keys", "labels"))
        for node, title, text, key, label in zip(*columns, strict=True):
            titles[node] = shortened(title_of(title[0], text, key[0], label), LENGTH)
    return titles
