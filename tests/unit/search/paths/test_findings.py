"""Findings of earlier runs, found by the words of a question."""

from __future__ import annotations

from typing import cast

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import FoundFinding
from pgs_neo4j.search.paths.findings import find_findings
from pgs_neo4j.search.paths.hits import Hits
from tests.fakes.database import FakeDatabase

ROW: Row = {"id": "f1", "text": "Tea was cheap.", "run": "r1", "partition": 3, "count": 2}


async def findings_of(db: FakeDatabase, graph: str | None, question: str) -> Hits:
    return await find_findings(cast("Database", db), graph, question, 10)


async def test_a_score_is_the_share_of_the_words_that_a_finding_holds() -> None:
    hits = await findings_of(FakeDatabase(find_findings=[ROW]), "g", "Was tea cheap in London?")
    assert hits.things == (
        FoundFinding(id="f1", text="Tea was cheap.", run="r1", partition=3, score=2 / 3),
    )
    assert (hits.scores, hits.method) == ({}, "words in the findings of earlier runs")


@pytest.mark.parametrize(
    ("question", "words", "least"),
    [
        ("tea", ["tea"], 1),
        ("tea salt", ["tea", "salt"], 1),
        ("Did tea or salt or silk pay?", ["tea", "salt", "silk", "pay"], 2),
    ],
)
async def test_half_of_the_words_are_enough(question: str, words: list[str], least: int) -> None:
    db = FakeDatabase()
    await findings_of(db, "g", question)
    (params,) = db.params("find_findings")
    assert (params["graph"], params["words"], params["least"]) == ("g", words, least)


async def test_nothing_is_read_without_a_stored_graph_or_words() -> None:
    db = FakeDatabase()
    assert (await findings_of(db, None, "tea")).method == "no runs to look at"
    assert (await findings_of(db, "g", "?!")).method == "no words to search for"
    assert db.sent == []
