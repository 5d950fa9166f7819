"""Changing what a graph is: only on request, with what it invalidates, and told afterwards."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.loading.graph_file import FileNode, GraphFile
from pgs_neo4j.errors import GraphExistsError, StoredDataError
from pgs_neo4j.model import GraphMapping
from tests import typed_rows
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.graphs import MAPPING

TITLES = replace(MAPPING, text=("title",), key=None)


@pytest.mark.thorough
async def test_another_definition_needs_replace_and_says_what_it_costs(
    db: Database, endpoint: Endpoint
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        assert not await pgs.graphs.add("papers", MAPPING)  # the same again
        await pgs.execute("What does fact5 say?", graph="papers", full_sweep=True)
        change = await pgs.graphs.compare("papers", TITLES)
        assert change is not None
        assert change.differences == ("text: abstract, now title", "key: doi, now none")
        assert (change.partitions, change.sessions) == (4, 1)
        with pytest.raises(GraphExistsError, match=r"key: doi, now none.*--replace"):
            await pgs.graphs.add("papers", TITLES)
        assert (await pgs.graphs.get("papers")).mapping == MAPPING
        assert not (await pgs.graphs.get("papers")).redefined

        assert not await pgs.graphs.add("papers", TITLES, replace=True)
        assert (await pgs.graphs.get("papers")).redefined
        assert await pgs.sessions.coverage("default", "papers") is None
        (info,) = await pgs.sessions("papers")
        assert (info.redefined, info.coverage) == (True, None)
        (run,) = await pgs.sessions.runs("default", "papers")
        assert run["redefined"]

        await pgs.partitions.build("papers")
        (info,) = await pgs.sessions("papers")
        assert info.coverage is not None
        assert (info.redefined, info.coverage.nodes_read) == (False, 0)
        (run,) = await pgs.sessions.runs("default", "papers")
        assert run["redefined"]  # it was asked of the earlier definition


@pytest.mark.parametrize("stored", ["'{}'", "7", "['Paper']", "'{\"labels\": []}'"])
async def test_a_mapping_that_another_program_wrote_shows_nothing_until_it_is_replaced(
    db: Database, endpoint: Endpoint, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_rows, "MOST", 0)  # it is not of the type that headers name
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.graphs.add("other", MAPPING)
        await alter(db, f"MATCH (g:PgsGraph {{name: 'papers'}}) SET g.mapping = {stored}")
        for reading in (pgs.graphs.get("papers"), pgs.graphs(), pgs.partitions("papers")):
            with pytest.raises(StoredDataError, match="the mapping of graph papers was changed"):
                await reading
        with pytest.raises(StoredDataError, match="--replace"):
            await pgs.graphs.add("papers", MAPPING)
        assert (await pgs.graphs.get("other")).mapping == MAPPING  # others are not in its way
        assert not await pgs.graphs.add("papers", MAPPING, replace=True)
        assert (await pgs.graphs.get("papers")).mapping == MAPPING
        await alter(db, f"MATCH (g:PgsGraph {{name: 'papers'}}) SET g.mapping = {stored}")
        await pgs.graphs.remove("papers")
        assert [graph.name for graph in await pgs.graphs()] == ["other"]


async def test_a_graph_is_never_loaded_over_another_one_nor_defined_twice_at_once(
    db: Database, endpoint: Endpoint
) -> None:
    file = GraphFile(
        nodes=(FileNode(id="a", properties={"concept": "text"}),),
        relationships=(),
        mapping=GraphMapping(text=("concept",), key="id"),
    )
    async with engine_on_papers(endpoint, db) as pgs:
        with pytest.raises(GraphExistsError, match=r"stored for other nodes .Paper."):
            await pgs.load(file, "papers")
        await pgs.load(file, "notes")
        await pgs.load(file, "notes")
        results = await asyncio.gather(
            *(pgs.graphs.add("both", GraphMapping(labels=(label,))) for label in ("A", "B")),
            return_exceptions=True,
        )
    assert sorted(type(result).__name__ for result in results) == ["GraphExistsError", "bool"]
