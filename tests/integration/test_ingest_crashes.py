"""An ingestion whose process is killed leaves whole documents, and is continued without loss."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pgs_neo4j.database.connection import Database
from tests.bench.ingestion.corpus import make_world, write_files, write_texts
from tests.conftest import Endpoint
from tests.killed_ingest import (
    BATCH_TEXTS,
    KILLED,
    LoggedCalls,
    Order,
    graph_without_name,
    half_documents,
    ingestions,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
KILLS = 8
FIRST = (
    *(("keep_extractions", "after"), ("publish", "during"), ("publish", "after")),
    ("write_node_vectors", "after"),
)
STATEMENTS = (
    *("take_ingest", "keep_schemas", "keep_extractions", "publish", "delete_extractions"),
    *("write_node_vectors", "write_fact_vectors"),
)
DOCUMENTS = 60  # two publications, and a prompt for each document
AT_ONCE = 4
"""Calls in flight."""


@pytest.mark.nightly
async def test_a_killed_ingestion_is_continued_without_duplicates_and_losses(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    world = make_world(40, 2 * DOCUMENTS)
    write_files(tmp_path / "docs", write_texts(world.facts, 2, 1500))
    whole = Order(str(tmp_path / "docs"), "whole", str(tmp_path / "log"), model_s=0.002)
    limits = dict.fromkeys(("PGS_MAX_CONCURRENT_SWEEPS", "PGS_MAX_CONCURRENT_CALLS"), str(AT_ONCE))
    async with ingestions(endpoint.environment() | limits) as own:
        assert await own.run(whole) == 0
        undisturbed = await graph_without_name(db, "whole")
        assert len(undisturbed["nodes"]) > 2 * DOCUMENTS
        every = [*moments(whole)]
        for first in range(0, KILLS, len(FIRST)):
            kills = every[first : first + len(FIRST)]
            graph, log = f"killed{first}", str(tmp_path / f"log{first}")
            landed = 0
            for moment in kills:
                code = await own.run(replace(moment, graph=graph, log=log))
                assert code in {KILLED, 0}, moment
                assert await half_documents(db, graph) == [], moment
                landed += code == KILLED
            assert first or landed == len(kills), "a known moment was not reached"
            assert await own.run(replace(whole, graph=graph, log=log)) == 0
            assert await graph_without_name(db, graph) == undisturbed, kills
            calls = LoggedCalls.read(log)
            assert calls.repeated <= landed * AT_ONCE, kills
            assert calls.embedded <= landed * AT_ONCE * BATCH_TEXTS, kills


@pytest.mark.thorough
async def test_a_document_killed_within_its_transaction_is_old_or_new(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    """What has been sent of it goes with the connection, and the next ingestion need not wait."""
    folder, log = tmp_path / "docs", tmp_path / "log"
    folder.mkdir()
    facts = make_world(40, 60).facts
    (text,) = write_texts(facts, 60, 20_000)
    whole = Order(str(folder), "whole", str(tmp_path / "other log"))
    killed = replace(whole, graph="killed", log=str(log), part_bytes=4000)
    changed = text[:3000] + "Quix River joined Meridian Institute. " + text[3000:]
    async with ingestions(endpoint.environment()) as own:
        former = await graph_without_name(db, "killed")
        for version, count, when in ((text, 2, "during"), (changed, 3, "after")):
            (folder / "large.txt").write_text(version)
            assert await own.run(whole) == 0
            latter = await graph_without_name(db, "whole")
            assert latter != former
            at = replace(killed, statement="publish", count=count, when=when)
            assert await own.run(at) == KILLED
            assert await graph_without_name(db, "killed") == former
            assert await own.run(killed) == 0
            assert await graph_without_name(db, "killed") == latter
            former = latter
    assert LoggedCalls.read(str(log)).repeated == 0


def moments(order: Order) -> Iterator[Order]:
    """Yield an ingestion as often as it is to be killed, each time at another moment."""
    random = Random(1)
    for statement, when in FIRST[:KILLS]:
        yield replace(order, statement=statement, when=when)
    for number in range(len(FIRST), KILLS):
        if number % 2:
            yield replace(order, after_s=random.uniform(0.001, 1.5))
        else:
            when = random.choice(("before", "during", "after"))
            count = random.randint(1, 2)
            statement = random.choice(STATEMENTS)
            yield replace(order, statement=statement, when=when, count=count)
