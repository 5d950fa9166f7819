"""`pgs partitions --report` and `--check` as processes, on a graph that changes."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j import catalog
from pgs_neo4j.database.connection import Database
from tests.graphs import checksum, papers
from tests.shells import Shell

CHANGE = """
MATCH (p:Paper) WHERE p.doi IN ['doi/3', 'doi/50', 'doi/51']
SET p.abstract = p.abstract + ' And more.'
"""


@pytest.fixture
async def stored(db: Database) -> Database:
    """Four topics of papers and three that nobody cites, stored as a graph."""
    await catalog.add(db, "papers", await papers(db, isolates=3))
    return db


async def checked(shell: Shell) -> tuple[Any, str | None]:
    """The drift and the outlook of a check; nobody is told of its progress."""
    done = await shell("partitions", "--check", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    return done.document["drift"], done.document["outlook"]


@pytest.mark.thorough
async def test_the_report_and_the_check_follow_the_graph(shell: Shell, stored: Database) -> None:
    assert (await shell("partitions", "--check")).out.startswith(
        "graph papers is not partitioned yet"
    )
    assert await checked(shell) == (None, "cold")

    first = (await shell("partition", "--json", "--quiet")).document
    assert (first["origin"], first["drift"]) == ("cold", None)
    done = await shell("partitions", "--report")
    assert (done.code, done.err) == (0, "")
    assert f"papers, generation {first['generation']}" in done.out
    assert "1 pool of 3 nodes" in done.out
    report = (await shell("partitions", "--report", "--json")).document
    for name in ("generation", "sizes", "modularity", "origin"):
        assert report[name] == first[name]
    assert sum(each["partitions"] for each in report["histogram"]) == first["partition_count"]
    assert report["size_quantiles"][0] == min(first["sizes"]) == 3
    assert {"scan", "communities", "limits", "write", "enrich"} <= set(report["steps"])

    moved, outlook = await checked(shell)
    assert (moved["committed"], moved["nodes"], outlook) == (False, 163, None)
    await stored.call(CHANGE, {}, "write")
    user_graph = await checksum(stored)
    moved, outlook = await checked(shell)
    assert outlook == "refreshed"
    assert (moved["committed"], moved["changed"], moved["texts_changed"]) == (True, True, 3)
    assert (moved["nodes"], moved["nodes_added"], moved["relationships_changed"]) == (163, 0, 0)
    done = await shell("partitions", "--check", "--verbose")
    assert "texts            3 changed" in done.out.splitlines()
    assert "163 of 163 nodes scanned" in done.err
    assert (await catalog.get(stored, "papers")).generation == first["generation"]

    done = await shell("partition", "--quiet")
    assert "refreshed where texts changed" in done.out
    assert "drift 2 %: 3 texts changed" in done.out.splitlines()
    moved, outlook = await checked(shell)
    assert (moved["changed"], outlook) == (False, None)
    listed = (await shell("partitions", "--json")).document["partitions"]
    assert {part["lineage"] for part in listed} == {
        f"{first['generation']}:{part['id']}" for part in listed
    }
    assert await checksum(stored) == user_graph
