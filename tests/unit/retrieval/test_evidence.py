"""Scores of nodes by the text index, and the votes of partitions."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval import evidence
from pgs_neo4j.retrieval.evidence import (
    Evidence,
    EvidenceNode,
    SegmentRow,
    find_evidence,
    read_titles,
    score_nodes,
    vote,
)
from pgs_neo4j.text.terms.postings import FULL, K1, B, SegmentBuilder, terms_of
from tests.fakes.database import FakeDatabase
from tests.unit.partitioning.conftest import generation_of_sizes

FIRST = ["ice melts", "ice", "courts decide", "of the"]
SECOND = ["ice and courts", "nothing else"]
TYPICAL = 10_000.0  # so that lengths make no difference
Stored = tuple[list[SegmentRow], dict[str, bytes]]


def stored(
    name: str, texts: list[str], partitions: list[tuple[int, int, int]]
) -> tuple[SegmentRow, dict[str, bytes]]:
    """A segment as the database has it."""
    builder = SegmentBuilder(TYPICAL)
    builder.add(texts)
    segment = builder.build()
    row: SegmentRow = {
        "id": name,
        "size": segment.size,
        "bits": segment.bits,
        "partitions": partitions,
    }
    return row, {f"{name}:{bucket}": data for bucket, data in segment.cells.items()}


@pytest.fixture
def segments() -> Stored:
    """Partition 1 has the texts 0 and 1, partition 2 the others, partition 3 another segment."""
    one, cells = stored("a", FIRST, [(1, 0, 2), (2, 2, 2)])
    two, more = stored("b", SECOND, [(3, 0, 2)])
    return [one, two], cells | more


def places(found: Evidence) -> list[tuple[int, int]]:
    """Partitions and ranks, best first."""
    return [(node.partition, node.rank) for node in found.nodes]


def test_nodes_are_found_in_all_segments_best_first(segments: Stored) -> None:
    found = score_nodes(*segments, terms_of("ice in courts"), [1, 2, 3])
    assert places(found) == [(3, 0), (2, 0), (1, 0), (1, 1)]
    assert (found.terms, found.known) == (2, 2)


def test_the_score_is_bm25(segments: Stored) -> None:
    found = score_nodes(*segments, terms_of("melting"), [1, 2, 3])
    (node,) = found.nodes
    norm = K1 * (1 - B + B * len(FIRST[0]) / TYPICAL)
    rarity = math.log(1 + (6 - 1 + 0.5) / 1.5)
    assert node.score == pytest.approx(rarity / (1 + norm), abs=rarity / FULL)


def test_only_wanted_partitions_count(segments: Stored) -> None:
    assert places(score_nodes(*segments, terms_of("ice"), [2])) == []
    assert places(score_nodes(*segments, terms_of("ice"), [1])) == [(1, 0), (1, 1)]


def test_texts_of_another_generation_count_for_nothing() -> None:
    row, cells = stored("a", FIRST, [(7, 2, 2)])
    assert places(score_nodes([row], cells, terms_of("ice"), [7])) == []
    found = score_nodes([row], cells, terms_of("courts"), [7])
    assert places(found) == [(7, 0)]
    assert found.nodes[0].score < math.log(1 + 2.5 / 1.5)


def test_words_that_no_text_holds_are_counted(segments: Stored) -> None:
    found = score_nodes(*segments, terms_of("zymurgy of ice"), [1, 2, 3])
    assert (found.terms, found.known) == (2, 1)
    assert score_nodes(*segments, terms_of("zymurgy"), [1]).nodes == ()
    assert score_nodes([], {}, terms_of("ice"), [1]).nodes == ()


def test_the_best_nodes_are_kept(segments: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MOST_NODES", 2)
    found = score_nodes(*segments, terms_of("ice in courts"), [1, 2, 3])
    assert places(found) == [(3, 0), (2, 0)]


async def test_only_cells_of_the_questions_terms_are_read(segments: Stored) -> None:
    rows, cells = segments
    db: Any = FakeDatabase(
        read_segments=rows,
        read_postings=lambda params: [
            {"uid": uid, "data": cells[uid]} for uid in params["uids"] if uid in cells
        ],
    )
    found = await find_evidence(db, generation_of_sizes(2, 2, 2), "ice?", [1, 2, 3])
    assert found is not None
    assert places(found) == [(1, 0), (1, 1), (3, 0)]
    assert db.params("read_postings") == [{"uids": ["a:0", "b:0"]}]


async def test_a_partition_without_an_index_leaves_no_evidence(segments: Stored) -> None:
    db: Any = FakeDatabase(read_segments=segments[0])
    assert await find_evidence(db, generation_of_sizes(2, 2, 2, 2), "ice?", [1, 2]) is None


async def test_titles_are_those_of_the_best_node_of_each_partition() -> None:
    row = {
        "partition": 2,
        "rank": 5,
        "element_id": "4:x:5",
        "labels": ["Paper"],
        "text": ["Long text"],
        "title": "A title",
        "key": None,
    }
    db: Any = FakeDatabase(read_evidence_nodes=[row])
    nodes = [EvidenceNode(2, 5, 1.0), EvidenceNode(2, 1, 0.5), EvidenceNode(1, 0, 0.2)]
    assert await read_titles(db, GraphMapping(), "g1", nodes) == {2: "A title"}
    assert db.params("read_evidence_nodes")[0]["places"] == [[2, 5], [1, 0]]


def test_one_node_that_answers_outweighs_many_that_share_a_word() -> None:
    nodes = (EvidenceNode(1, 0, 10.0), *(EvidenceNode(2, rank, 6.0) for rank in range(50)))
    votes = vote(Evidence(nodes, 1, 1))
    assert list(votes) == [1, 2]
    assert votes[1] == pytest.approx(1.0)
    assert votes[2] == pytest.approx(0.36 * 2)


def test_of_two_equal_nodes_the_partition_with_more_wins() -> None:
    nodes = (EvidenceNode(1, 0, 4.0), EvidenceNode(2, 0, 4.0), EvidenceNode(2, 1, 2.0))
    assert list(vote(Evidence(nodes, 1, 1))) == [2, 1]
    assert vote(Evidence((), 1, 0)) == {}
