"""Graphs that the server's heap cannot hold are refused before anything is projected."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import Algorithm
from pgs_neo4j.database.gds import refuse_if_too_large
from pgs_neo4j.errors import GDSMemoryError, QueryError
from tests.unit.database.gds.conftest import MakeGDS

MIB = 2**20
HEAP = [{"max_bytes": 10 * MIB}]
REFUSED = r"1,000 nodes and 5,000 relationships.* 11 MiB.* 10 MiB"


@pytest.mark.parametrize(
    ("algorithm", "louvain_mib", "heap", "refused"),
    [
        ("leiden-louvain", 10, HEAP, False),
        ("leiden-louvain", 11, HEAP, True),
        ("louvain", 11, HEAP, True),
        ("leiden", 11, HEAP, False),
        # A user who may not see the heap is not refused.
        ("louvain", 11, QueryError("not allowed"), False),
        ("louvain", 11, [], False),
    ],
)
async def test_the_largest_need_of_what_runs_is_compared_with_the_heap(
    make_gds: MakeGDS, algorithm: Algorithm, louvain_mib: int, heap: Any, refused: bool
) -> None:
    asked: list[str] = []

    def estimates(name: str, mib: int) -> Any:
        def answer(graph: dict[str, Any], concurrency: int) -> object:
            assert (graph["nodeCount"], graph["relationshipCount"]) == (1000, 5000)
            asked.append(name)
            return SimpleNamespace(bytes_max=mib * MIB)

        return SimpleNamespace(estimate=answer)

    client = SimpleNamespace(
        leiden=estimates("leiden", 5), louvain=estimates("louvain", louvain_mib)
    )
    with pytest.raises(GDSMemoryError, match=REFUSED) if refused else nullcontext():
        await refuse_if_too_large(make_gds(client, read_heap=heap), 1000, 5000, algorithm)
    assert sorted(asked) == algorithm.split("-")
