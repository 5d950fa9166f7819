"""Graphs that the server's heap cannot hold are refused before anything is projected."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import Algorithm
from pgs_neo4j.errors import GDSMemoryError, QueryError
from pgs_neo4j.gds import refuse_if_too_large
from tests.unit.gds.conftest import MakeGDS

MIB = 2**20


def client(**needed: int) -> tuple[Any, list[str]]:
    asked: list[str] = []

    def estimate(name: str) -> Any:
        def answer(graph: dict[str, Any], concurrency: int) -> object:
            assert (graph["nodeCount"], graph["relationshipCount"]) == (1000, 5000)
            asked.append(name)
            return SimpleNamespace(bytes_max=needed[name])

        return SimpleNamespace(estimate=answer)

    return SimpleNamespace(leiden=estimate("leiden"), louvain=estimate("louvain")), asked


async def test_a_graph_that_fits_is_not_refused(make_gds: MakeGDS) -> None:
    fake, asked = client(leiden=10 * MIB, louvain=10 * MIB)
    gds = make_gds(fake, read_heap=[{"max_bytes": 10 * MIB}])
    await refuse_if_too_large(gds, 1000, 5000, "leiden-louvain")
    assert sorted(asked) == ["leiden", "louvain"]


async def test_the_larger_need_decides_and_both_figures_are_named(make_gds: MakeGDS) -> None:
    fake, _ = client(leiden=5 * MIB, louvain=11 * MIB)
    gds = make_gds(fake, read_heap=[{"max_bytes": 10 * MIB}])
    with pytest.raises(GDSMemoryError) as caught:
        await refuse_if_too_large(gds, 1000, 5000, "leiden-louvain")
    message = str(caught.value)
    assert "1,000 nodes and 5,000 relationships" in message
    assert "11 MiB" in message
    assert "10 MiB" in message


@pytest.mark.parametrize("algorithm", ["leiden", "louvain"])
async def test_only_the_algorithm_that_runs_is_estimated(
    make_gds: MakeGDS, algorithm: Algorithm
) -> None:
    fake, asked = client(leiden=1, louvain=1)
    await refuse_if_too_large(make_gds(fake, read_heap=[{"max_bytes": 2}]), 1000, 5000, algorithm)
    assert asked == [algorithm]


@pytest.mark.parametrize("heap", [QueryError("not allowed"), []])
async def test_a_user_who_may_not_see_the_heap_is_not_refused(make_gds: MakeGDS, heap: Any) -> None:
    fake, asked = client(leiden=1000 * MIB, louvain=1)
    await refuse_if_too_large(make_gds(fake, read_heap=heap), 1000, 5000, "leiden")
    assert asked == ["leiden"]
