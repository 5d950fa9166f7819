"""Small scans, generations, orders, and tools that need no database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.events import ignore
from pgs_neo4j.graph.sketch import sketch
from pgs_neo4j.model import Generation, GraphMapping, Partition
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools, StepTimer
from pgs_neo4j.pgs.partitioning.rows import generation_properties, partition_row
from pgs_neo4j.pgs.partitioning.view import View
from pgs_neo4j.search.space import Space
from tests.fakes.database import Answer, FakeDatabase


def ints(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """An int64 array."""
    return np.asarray(values, dtype=np.int64)


def view_of(ids: Sequence[int], pairs: Sequence[tuple[int, int]] = (), **parts: Any) -> View:
    """A view of nodes with one token and the text hash of their id; edges by place."""
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    count = len(ids)
    columns: dict[str, Any] = {
        "ids": np.asarray(ids, dtype=np.int64),
        "sizes": np.ones(count, dtype=np.int64),
        "node_weight": np.full(count, np.nan),
        "tokens": np.ones(count, dtype=np.int64),
        "text_hash": np.asarray(ids, dtype=np.int64) * 10,
        "facts": np.zeros(count, dtype=np.int64),
        "source": ends[:, 0],
        "target": ends[:, 1],
        "weight": np.ones(len(ends)),
        "dimensions": {0: count},
        "sketch": sketch((ends[:, 0] * 1000 + ends[:, 1]).view(np.uint64)),
        "content_hash": "content",
    }
    return View(**(columns | parts))


def generation_of_sizes(*sizes: int, **parts: Any) -> Generation:
    """A complete generation with partitions of these sizes."""
    columns: dict[str, Any] = {
        "id": "g1",
        "graph": "papers",
        "created_at": "2026-01-02T03:04:05Z",
        "algorithm": "louvain",
        "fingerprint": "f",
        "node_count": sum(sizes),
        "relationship_count": 0,
        "partition_count": len(sizes),
        "modularity": 0.5,
        "sizes": sizes,
        "pooled_nodes": 0,
        "embedder": None,
        "dimensions": None,
    }
    return Generation(**(columns | parts))


def partition(number: int, size: int = 1, **parts: Any) -> Partition:
    """A partition of the generation ``g1``."""
    columns: dict[str, Any] = {
        "id": number,
        "uid": f"g1:{number}",
        "lineage": f"g0:{number}",
        "size": size,
        "tokens": size,
    }
    return Partition(**(columns | parts))


def stored_partitions(current: Generation, count: int) -> dict[str, Answer]:
    """What a database answers that holds a generation, and so many partitions of it."""
    stored = {"id": current.id, "created_at": current.created_at} | generation_properties(current)
    parts = [partition_row(partition(number)) for number in range(1, count + 1)]
    rows = [{"partition": part, "adjacent": [], "parent": None} for part in parts]
    return {
        "read_current": [{"generation": stored}],
        "read_partitions": [{"partitions": [row]} for row in rows],
    }


def build_order(
    config: PGSConfig | None = None, mapping: GraphMapping | None = None, **parts: Any
) -> BuildOrder:
    """An order to build the generation ``g2`` of the graph ``papers``."""
    columns: dict[str, Any] = {
        "generation_id": "g2",
        "lease": Lease(graph="papers", holder="here", fence=7),
        "mapping": mapping or GraphMapping(text=("text",)),
        "config": config or PGSConfig(),
        "settings": "s",
        "token": "t",
    }
    return BuildOrder(**(columns | parts))


# The text index is written as ordered.
INDEXING: dict[str, Answer] = {
    "write_postings": lambda params: [{"written": len(params["cells"])}],
    "read_segment_sizes": [],
    "read_segments": [],
    "read_titles": [{"ids": [], "titles": [], "texts": [], "keys": [], "labels": []}],
    "write_reached": lambda params: [{"written": len(params["rows"])}],
    "write_word_counts": lambda params: [{"written": len(params["rows"])}],
    "write_segments": lambda params: [{"indexed": len(params["partitions"])}],
}


def build_tools(space: Space | None = None, **answers: Answer) -> BuildTools:
    """Tools without GDS; keywords are answers of their database."""
    db: Any = FakeDatabase(**{**INDEXING, **answers})
    gds: Any = None
    return BuildTools(db=db, gds=gds, space=space or Space("none"), timer=StepTimer(ignore))
