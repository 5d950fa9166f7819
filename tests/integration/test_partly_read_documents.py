"""A document that is read only in part is named wherever something rests on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.database import fetch
from tests.engines import answering
from tests.integration.test_ingest import SEINE, reader
from tests.papers_by_hand import PageDrawing, draw_pdf

TEXT = [(50, 700, "Marie Curie worked in Paris. She found radium with Pierre Curie.")]
SCANNED = draw_pdf([PageDrawing(TEXT), PageDrawing(pictures=[(0, 0, 600, 800)])])
WHOLE = draw_pdf([PageDrawing(TEXT), PageDrawing([(50, 700, "She was born in Warsaw, in 1867.")])])
PARTS = ("page 2 is a picture",)
SAID = (
    "1 document of this graph was read only in part, so answers do not use the rest: "
    "curie.pdf (page 2 is a picture)"
)
MARKED = """
MATCH (d:Document) WHERE d.partly_read RETURN d.id AS id, d.unread AS unread ORDER BY id
"""


@pytest.fixture
def pgs(engine: PGS) -> PGS:
    answering(engine, reader)
    return engine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "curie.pdf").write_bytes(SCANNED)
    (tmp_path / "seine.txt").write_text(SEINE)
    return tmp_path


async def test_what_is_unread_is_kept_told_again_and_part_of_each_answer(
    pgs: PGS, db: Database, folder: Path
) -> None:
    planned = await pgs.ingest.plan(folder, "docs")
    for state in ("added", "unchanged"):
        done = await pgs.ingest(folder, "docs")
        told = [(one.id, one.state, one.unread) for one in done.outcomes]
        assert told == [("curie.pdf", state, PARTS), ("seine.txt", state, ())]
        assert (done.complete, done.partly_read) == (True, 1)
    assert [one.unread for one in planned.outcomes] == [PARTS, ()]
    assert [one.unread for one in await pgs.ingest.documents("docs")] == [PARTS, ()]
    assert (await pgs.ingest.document("docs", "curie.pdf")).unread == PARTS
    assert await fetch(db, MARKED) == [{"id": "curie.pdf", "unread": [*PARTS]}]
    answer = await pgs.execute("Who worked in Paris?", graph="docs")
    assert SAID in answer.warnings
    assert SAID in (await pgs.runs.answer(answer.run)).warnings
    found = await pgs.search("Who worked in Paris?", graph="docs")
    assert SAID in found.warnings


async def test_a_document_that_is_read_in_full_by_now_is_no_longer_named(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    (folder / "curie.pdf").write_bytes(WHOLE)
    done = await pgs.ingest(folder, "docs")
    assert [(one.state, one.unread) for one in done.outcomes] == [
        ("changed", ()),
        ("unchanged", ()),
    ]
    assert await fetch(db, MARKED) == []
    found = await pgs.search("Who worked in Paris?", graph="docs")
    assert not any("read only in part" in one for one in found.warnings)


async def test_a_warning_names_a_few_documents_and_counts_the_others(
    pgs: PGS, folder: Path
) -> None:
    for number in range(1, 5):
        (folder / f"curie-{number}.pdf").write_bytes(SCANNED)
    await pgs.ingest(folder, "docs")
    (said,) = (
        one
        for one in (await pgs.search("Who worked in Paris?", graph="docs")).warnings
        if "read only in part" in one
    )
    assert said.startswith("5 documents of this graph were read only in part")
    assert said.endswith("curie-3.pdf (page 2 is a picture), and 2 more")
