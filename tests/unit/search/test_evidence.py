"""Scores of nodes and places of words by the text index, and the votes of partitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.database.portions import Recent
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search import evidence
from pgs_neo4j.search.evidence import (
    FURTHER,
    Evidence,
    EvidenceNode,
    EvidenceOrder,
    find_evidence,
    find_unknown,
    list_words,
    vote,
)
from pgs_neo4j.search.lookup import answerable_searches, find_places, index_terms
from pgs_neo4j.search.nodes import Place
from pgs_neo4j.search.paths.own_index import score_nodes
from pgs_neo4j.search.text_index import REREADS, KnownTexts, SegmentRow, TextIndex, TextTable
from pgs_neo4j.text.matching import SearchTerms
from pgs_neo4j.text.terms.postings import FULL, K1, B, count_question, terms_of
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import generation_of_sizes
from tests.unit.search.conftest import TYPICAL, stored

FIRST = ["ice melts", "ice", "courts decide", "of the"]
SECOND = ["ice and courts", "nothing else"]
Stored = tuple[list[SegmentRow], dict[str, bytes]]


@pytest.fixture
def segments() -> Stored:
    """Partition 1 has the texts 0 and 1, partition 2 the others, partition 3 another segment."""
    one, cells = stored("a", FIRST, [(1, 0, 2), (2, 2, 2)])
    two, more = stored("b", SECOND, [(3, 0, 2)])
    return [one, two], cells | more


def index_of(segments: Stored, question: str) -> TextIndex:
    """What the index holds of a question's terms."""
    return TextIndex.of(TextTable.of(segments[0]), segments[1], terms_of(question))


def scored(segments: Stored, question: str, ids: list[int]) -> dict[Place, float]:
    """The scores of the texts of some partitions."""
    return score_nodes(index_of(segments, question), terms_of(question), ids, evidence.MOST_NODES)


def order(question: str, *sizes: int, vector: NDArray[np.float32] | None = None) -> EvidenceOrder:
    """A question to partitions of these sizes."""
    return EvidenceOrder(
        question=question,
        mapping=GraphMapping(embedding="v"),
        generation=generation_of_sizes(*sizes),
        partitions=[
            Partition(id=number, uid=f"g:{number}", size=size, tokens=1)
            for number, size in enumerate(sizes, 1)
        ],
        vector=vector,
    )


def read_texts(params: dict[str, Any]) -> list[dict[str, Any]]:
    """The members of the partitions, without titles."""
    texts = FIRST + SECOND
    members = [
        [number, rank, f"{number}:{rank}", [], [texts[2 * (number - 1) + rank]], None, None]
        for place in params["places"]
        for number in [int(place["partition"].removeprefix("g:"))]
        for rank in place["ranks"]
    ]
    return [{"members": members}]


def database(segments: Stored, **answers: Any) -> Any:
    """A database that holds an index."""
    rows, cells = segments
    index: dict[str, Any] = {
        "read_segments": rows,
        "read_postings": lambda params: [
            {"uid": uid, "data": cells[uid]} for uid in params["uids"] if uid in cells
        ],
        "count_segments": lambda params: [{"in_use": len(params["segments"])}],
        "read_placed": read_texts,
        "read_names": [{"labels": [], "types": []}],
    }
    return FakeDatabase(**index | answers)


def test_nodes_are_found_in_all_segments_best_first(segments: Stored) -> None:
    found = scored(segments, "ice in courts", [1, 2, 3])
    assert list(found) == [(3, 0), (2, 0), (1, 0), (1, 1)]
    assert list(scored(segments, "ice", [1])) == [(1, 0), (1, 1)]  # only wanted partitions
    assert scored(segments, "ice", [2]) == {}


def test_the_score_is_bm25_among_the_texts_of_this_generation(segments: Stored) -> None:
    (score,) = scored(segments, "melting", [1, 2, 3]).values()
    norm = K1 * (1 - B + B * len(FIRST[0]) / TYPICAL)
    rarity = math.log(1 + (6 - 1 + 0.5) / 1.5)
    assert score == pytest.approx(rarity / (1 + norm), abs=rarity / FULL)
    row, cells = stored("a", FIRST, [(7, 2, 2)])
    index = index_of(([row], cells), "ice in courts")
    assert index.size == 2
    assert set(index.postings) == set(terms_of("courts"))
    ((place, score),) = score_nodes(index, terms_of("ice in courts"), [7], 9).items()
    assert place == (7, 0)
    assert score < math.log(1 + 2.5 / 1.5)


def test_a_search_counts_what_the_question_repeats_and_not_what_a_text_lacks() -> None:
    texts = ["ice melts", "courts", "ice courts decide and more of it", "ice"]
    row, cells = stored("a", texts, [(1, 0, 4)])
    asked = count_question("ice, more ice, in courts")
    index = TextIndex.of(TextTable.of([row]), cells, list(asked))
    found = score_nodes(index, list(asked), [1], 9, times=asked)
    (ice,), (court,) = count_question("ice"), count_question("court")
    assert (asked[ice], asked[court]) == (2, 1)

    def weight(term: int) -> float:
        return math.log(1 + (4 - len(index.of_term(term)) + 0.5) / (len(index.of_term(term)) + 0.5))

    norm = K1 * (1 - B + B * len("ice") / TYPICAL)
    assert found[Place(1, 3)] == pytest.approx(2 * weight(ice) / (1 + norm), abs=2 / FULL)
    routed = score_nodes(index, list(asked), [1], 9)
    assert routed[Place(1, 3)] < found[Place(1, 3)] / 2


def test_words_that_no_text_holds_are_named(segments: Stored) -> None:
    words = ["zymurgy", "ices", "meltings"]
    assert find_unknown(index_of(segments, " ".join(words)), words) == ("zymurgy",)
    assert scored(segments, "zymurgy", [1]) == {}
    empty: Stored = ([], {})
    assert scored(empty, "ice", [1]) == {}
    assert find_unknown(index_of(empty, "ice"), ["ice"]) == ("ice",)


def test_the_best_nodes_are_kept(segments: Stored) -> None:
    terms = terms_of("ice in courts")
    best = score_nodes(index_of(segments, "ice in courts"), terms, [1, 2, 3], 2)
    assert list(best) == [(3, 0), (2, 0)]
    row, cells = stored("c", ["ice"] * 3, [(1, 0, 3)])
    alike = score_nodes(index_of(([row], cells), "ice"), terms_of("ice"), [1], 2)
    assert list(alike) == [(1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ("What about error 404?", ["error"]),
        ("What about 404?", ["404"]),
        (f"Who is {'x' * 70}?", []),
        ("What is it?", []),
    ],
)
def test_a_question_is_as_many_words_as_the_index_can_hold(
    question: str, listed: list[str]
) -> None:
    assert list_words(question) == listed


async def test_only_cells_of_the_terms_are_read_of_a_whole_index(
    segments: Stored,
) -> None:
    db = database(segments)
    found = await find_evidence(db, order("ice or zymurgy?", 2, 2, 2))
    assert found is not None
    assert [node.place for node in found.nodes] == [(1, 0), (3, 0), (1, 1)]
    assert (found.unknown, found.word_count) == (("zymurgy",), 2)
    assert found.titles == {Place(1, 0): FIRST[0], Place(3, 0): SECOND[0]}
    assert len(db.params("read_placed")) == 1
    assert (found.best_cosine, found.method) == (None, "text index")
    assert db.params("read_postings") == [{"uids": ["a:0", "b:0"]}]
    assert await find_evidence(database(segments), order("ice?", 2, 2, 2, 2)) is None


MERGED = stored("merged", FIRST + SECOND, [(1, 0, 2), (2, 2, 2), (3, 4, 2)])


async def test_the_places_of_texts_are_read_once_unless_their_segments_are_gone(
    segments: Stored,
) -> None:
    db = database(segments)
    known: KnownTexts = Recent(1)
    first = await find_evidence(db, order("ice?", 2, 2, 2), known)
    assert first == await find_evidence(db, order("ice?", 2, 2, 2), known)
    assert len(db.params("read_segments")) == 1
    assert len(db.params("count_segments")) == 2
    row, cells = MERGED
    in_use = [0, 1]
    db = database(([row], cells), count_segments=lambda params: [{"in_use": in_use.pop(0)}])
    found = await find_evidence(db, order("courts?", 2, 2, 2), known)
    assert found is not None
    assert [node.place for node in found.nodes] == [(2, 0), (3, 0)]
    table = known.find("g1")
    assert table is not None
    assert table.segments == (row,)


async def test_an_index_that_is_merged_at_every_reading_is_none(segments: Stored) -> None:
    db = database(segments, count_segments=[{"in_use": 1}])
    assert await find_evidence(db, order("courts?", 2, 2, 2)) is None
    assert len(db.params("read_postings")) == 1 + REREADS


VECTOR = np.array([1.0, 0.0], dtype=np.float32)


async def test_embeddings_count_beside_words_and_where_no_word_does(segments: Stored) -> None:
    near = [{"partition": 2, "rank": 1, "score": 0.9}, {"partition": 1, "rank": 0, "score": 0.3}]
    db = database(segments, nearest_members=near)
    found = await find_evidence(db, order("melting", 2, 2, 2, vector=VECTOR))
    assert found is not None
    scores = {node.place: node.score for node in found.nodes}
    assert scores == pytest.approx({(1, 0): 0.8 + 0.2 / 3, (2, 1): 0.2})
    assert found.best_cosine == 0.9
    assert found.method == "text index and every stored embedding"
    assert db.params("nearest_members")[0]["partitions"] == ["g:1", "g:2", "g:3"]
    db = database(segments, nearest_members=[{"partition": 2, "rank": 1, "score": 0.5}])
    found = await find_evidence(db, order("zymurgy", 2, 2, 2, vector=VECTOR))
    assert found is not None
    assert [node.place for node in found.nodes] == [(2, 1)]


def test_one_node_that_answers_outweighs_many_that_share_a_word() -> None:
    nodes = (EvidenceNode(1, 0, 10.0), *(EvidenceNode(2, rank, 6.0) for rank in range(50)))
    votes = vote(Evidence(nodes))
    assert list(votes) == [1, 2]
    assert votes[1] == pytest.approx(1.0)
    assert votes[2] == pytest.approx(0.36 / (1 - FURTHER))


TEXTS = ["ice melts", "ice", "courts", "ice in courts", "melting ice"]
PARTITIONS = [(7, 0, 2), (3, 2, 2), (5, 4, 1)]


def places(search: SearchTerms, order: dict[int, int], most: int = 9) -> tuple[list[Place], int]:
    """The places of a search among ``TEXTS``."""
    row, cells = stored("a", TEXTS, PARTITIONS)
    sought = answerable_searches([search])
    index = TextIndex.of(TextTable.of([row]), cells, sorted(index_terms(sought)))
    return find_places(index, search, sought[search], order, most)


@pytest.mark.parametrize("most", [1, 2, 4, 9])
def test_only_the_first_places_are_returned_and_all_are_counted(most: int) -> None:
    first = [Place(5, 0), Place(3, 1), Place(7, 0), Place(7, 1)]
    search = SearchTerms(("ice",), 1)
    assert places(search, {5: 0, 3: 1, 7: 2}, most) == (first[:most], 4)


def test_partitions_that_are_not_in_the_order_are_left_out() -> None:
    search = SearchTerms(("ice",), 1)
    assert places(search, {7: 0}) == ([Place(7, 0), Place(7, 1)], 2)
    assert places(search, {90: 0}) == ([], 0)
    assert places(search, {}) == ([], 0)
