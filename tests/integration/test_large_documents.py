"""A document that is too large for one transaction ends as one that is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.ingest.deletion import delete
from pgs_neo4j.ingest.transactions import parts
from tests.bench.ingestion.corpus import make_world, write_texts
from tests.conftest import Endpoint
from tests.killed_ingest import graph_without_name


async def test_a_document_in_parts_becomes_the_graph_of_the_whole_one(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    access = {"neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user}
    async with PGS.connect_without_models(
        embedder="none", neo4j_password=endpoint.password, **access
    ) as pgs:
        whole = [one async for one in write_history(pgs, db, tmp_path / "whole")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts, "GROUP_BYTES", 6000)
            patch.setattr(parts, "PART_BYTES", 5000)
            patch.setattr(delete, "PART_CHUNKS", 2)
            divided = [one async for one in write_history(pgs, db, tmp_path / "parts")]
    assert [len(one["nodes"]) > 40 for one in whole] == [True, True, True, False]
    assert whole == divided


async def write_history(pgs: PGS, db: Database, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield the graph of a document that is added, changed, renamed, and deleted."""
    file, graph = folder / "large.txt", folder.name
    for text in texts():
        write(file, text)
        assert (await pgs.ingest(folder, graph)).complete
        yield await graph_without_name(db, graph)
    file.rename(folder / "other.txt")
    assert (await pgs.ingest(folder, graph)).count("moved") == 1
    yield await graph_without_name(db, graph)
    deletion = await pgs.ingest.delete(graph, ["other.txt"])
    assert (deletion.documents, deletion.proven) == (1, True)
    assert deletion.chunks > 4
    yield await graph_without_name(db, graph)


def texts() -> Iterator[str]:
    """Yield a text, and the same with another paragraph in place of three."""
    (text,) = write_texts(make_world(40, 60).facts, 60, 24_000)
    yield text
    paragraphs = text.split("\n\n")
    paragraphs[9:12] = ["Quix River joined Meridian Institute."]
    yield "\n\n".join(paragraphs)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
