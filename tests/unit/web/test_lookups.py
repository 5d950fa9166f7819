"""A crowd shares reads of a graph, and sees what was stored before it asked."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.lookups import GraphLookups
from pgs_neo4j.web.shared import visible_graph


class Graphs:
    """Stored graphs; each read waits until it may end."""

    def __init__(self) -> None:
        self.names: set[str] = {"papers"}
        self.reads: list[asyncio.Event] = []

    async def get(self, name: str | None) -> Any:
        there, go = set(self.names), asyncio.Event()
        self.reads.append(go)
        await go.wait()
        if name not in there:
            raise UnknownGraphError(f"there is no graph {name}")
        return SimpleNamespace(name=name)


def lookups() -> tuple[GraphLookups, Graphs]:
    graphs = Graphs()
    return GraphLookups(cast(PGS, SimpleNamespace(graphs=graphs))), graphs


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_crowd_shares_two_reads() -> None:
    here, graphs = lookups()
    first = asyncio.create_task(here.find("papers"))
    await turns()
    leaving, *others = [asyncio.create_task(here.find("papers")) for _ in range(49)]
    await turns()
    leaving.cancel()  # and takes the read from nobody
    graphs.reads[0].set()
    assert (await first).name == "papers"
    await turns()
    graphs.reads[1].set()
    assert {one.name for one in await asyncio.gather(*others)} == {"papers"}
    assert len(graphs.reads) == 2
    assert leaving.cancelled()


async def test_a_graph_that_was_stored_before_the_request_is_seen() -> None:
    here, graphs = lookups()
    early = asyncio.create_task(here.find("new"))
    await turns()
    graphs.names.add("new")
    late = asyncio.create_task(here.find("new"))
    await turns()
    graphs.reads[0].set()
    with pytest.raises(UnknownGraphError):
        await early
    await turns()
    graphs.reads[1].set()
    assert (await late).name == "new"


@pytest.mark.parametrize("graphs", [None, frozenset({"papers", "birds"})])
async def test_a_request_is_told_to_name_a_graph_as_requests_do(
    graphs: frozenset[str] | None,
) -> None:
    several = UnknownGraphError("there are several; --graph", several=("birds", "papers"))

    async def find(name: str | None) -> Any:
        raise several

    serving: Any = SimpleNamespace(lookups=SimpleNamespace(find=find))
    with pytest.raises(UnknownGraphError) as caught:
        await visible_graph(serving, Caller("ann", "asker", graphs=graphs), None)
    assert "--" not in str(caught.value)
    assert "; name one as 'graph' in the query or the body" in str(caught.value)
