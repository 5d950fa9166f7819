"""Documents that change while their graph is partitioned are in the generation, or noticed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.pgs.partitioning import build
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import KNOBS, without_models
from tests.killed_ingest import graph_without_name

TEXT = "{name} Curie carried radium across the Seine. {name} Curie sold radium in Paris.\n"


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with without_models(endpoint, **KNOBS) as opened:
        yield opened


@pytest.mark.thorough
async def test_an_ingestion_between_the_steps_of_a_partitioning_loses_nothing(
    pgs: PGS, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Marie", "Pierre", "Irene"):
        (tmp_path / f"{name}.md").write_text(TEXT.format(name=name))
    await pgs.ingest(tmp_path, "docs")
    ingested: list[int] = []
    project = build.project_view  # type: ignore[attr-defined]

    @asynccontextmanager
    async def changed(*args: Any, **how: Any) -> AsyncIterator[Any]:
        if not ingested:
            (tmp_path / "Pierre.md").unlink()
            (tmp_path / "Eve.md").write_text(TEXT.format(name="Eve"))
            done = await pgs.ingest(tmp_path, "docs", sync=True)
            ingested.append(done.count("added") + done.count("deleted"))
        async with project(*args, **how) as found:
            yield found

    monkeypatch.setattr(build, "project_view", changed)
    await pgs.partitions.build("docs")
    assert ingested == [2]
    answer = await pgs.execute("Where is radium?", graph="docs", full_sweep=True)
    rows = await fetch(db, "MATCH (n:Docs) RETURN count(n) AS nodes")
    coverage = answer.coverage
    assert coverage.nodes_read == coverage.nodes_total == rows[0]["nodes"] > 3
    await pgs.ingest(tmp_path, "whole")
    found, wanted = [await graph_without_name(db, graph) for graph in ("docs", "whole")]
    found["links"] = [one for one in found["links"] if not one["type"].startswith("PGS")]
    assert found == wanted
