"""Documents vote once each, by what speaks for them."""

from __future__ import annotations

import math

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import Route
from pgs_neo4j.pgs.relevance import choose_by_evidence, route_by_evidence
from pgs_neo4j.search.document_votes import (
    Mention,
    count_document_votes,
    place_documents,
    rank_documents,
    score_by_mentions,
    score_by_passages,
    score_by_titles,
)
from pgs_neo4j.search.evidence import Evidence, EvidenceNode
from pgs_neo4j.search.nodes import Place


def evidence_of(*found: tuple[int, str]) -> Evidence:
    """Evidence of nodes, best first: the partition and the document of each, empty for none."""
    nodes = tuple(
        EvidenceNode(partition, rank, 100.0 - rank) for rank, (partition, _) in enumerate(found)
    )
    documents = {
        node.place: document for node, (_, document) in zip(nodes, found, strict=True) if document
    }
    scores = {node.place: node.score for node in nodes}
    ranked = rank_documents(score_by_passages(scores, documents))
    votes = count_document_votes(ranked, place_documents(documents, []))
    return Evidence(nodes, document_votes=votes)


def test_a_document_votes_once_by_its_best_passage() -> None:
    votes = evidence_of((1, "a"), (1, "a"), (2, "b"), (1, "a"), (3, "c")).document_votes
    assert votes == pytest.approx({1: 1 / 3, 2: 1 / 4, 3: 1 / 5})
    assert list(votes) == [1, 2, 3]


def test_many_documents_outvote_the_best_one() -> None:
    found = evidence_of((1, "a"), (2, "b"), (2, "c"), (2, "d"))
    assert list(found.document_votes) == [2, 1]
    assert choose_by_evidence(found, PGSConfig())[0] == 2


def test_nodes_that_are_no_passages_do_not_vote() -> None:
    found = evidence_of((3, ""), (3, ""), (1, "a"))
    assert found.document_votes == pytest.approx({1: 1 / 3})
    assert choose_by_evidence(found, PGSConfig()) == [1]
    every = choose_by_evidence(found, PGSConfig(), everything_unread=True)
    assert every == [1, 3]


def test_without_passages_nodes_decide_as_before() -> None:
    nodes = (EvidenceNode(1, 0, 10.0), EvidenceNode(2, 0, 9.9), EvidenceNode(3, 0, 1.0))
    assert choose_by_evidence(Evidence(nodes), PGSConfig()) == [1, 2]


def test_partitions_with_half_of_the_votes_are_read() -> None:
    found = evidence_of(*((number, f"d{number}") for number in range(1, 9)))
    # 1/3, 1/4, 1/5, 1/6 are at least half of the first; 1/7 is not.
    assert choose_by_evidence(found, PGSConfig()) == [1, 2, 3, 4]
    assert choose_by_evidence(found, PGSConfig(max_sweep_partitions=2)) == [1, 2]
    assert choose_by_evidence(found, PGSConfig(min_sweep_partitions=6)) == [1, 2, 3, 4, 5, 6]


def test_an_entity_divides_its_score_among_the_documents_that_mention_it() -> None:
    rare, common = Place(9, 0), Place(9, 1)
    mentions = [
        Mention(rare, "a", 1, 1),
        Mention(common, "b", 1, 1),
        Mention(common, "c", 2, 1),
        Mention(common, "c", 3, 2),  # a document in two partitions
    ]
    found = score_by_mentions({rare: 4.0, common: 4.0}, mentions)
    assert found == pytest.approx(
        {"a": 4 * math.log(2), "b": 2 * math.log(2), "c": 2 * math.log(4)}
    )


def test_a_document_is_found_by_the_words_of_its_title_in_the_best_one() -> None:
    titles = {"a": "Reading archives", "b": "The zlib module", "c": "Sockets", "d": "Archives"}
    texts = {"a": "Archives are packed by zlib, and zlib alone. See also archives."}
    found = score_by_titles(titles, texts, {"a": 2.0})
    assert found.keys() == {"b", "d"}  # neither itself, nor what it does not name
    doubled = score_by_titles(titles, texts, {"a": 4.0})
    assert doubled == pytest.approx({name: 4 * score for name, score in found.items()})


def test_words_that_many_titles_have_say_little() -> None:
    titles = {"b": "zlib interface", "c": "socket interface", "d": "queue interface", "e": "ast"}
    found = score_by_titles(titles, {"a": "the interface of zlib"}, {"a": 1.0})
    assert found["b"] > 3 * found["c"] > 0
    assert found["c"] == found["d"]
    assert "e" not in found


@pytest.mark.parametrize("title", ["", "…", "the of"])
def test_a_title_without_words_is_found_by_none(title: str) -> None:
    assert score_by_titles({"b": title, "c": ""}, {"a": "the of …"}, {"a": 1.0}) == {}
    assert score_by_titles({}, {}, {}) == {}


def test_what_speaks_for_a_document_counts_relative_to_the_best() -> None:
    ranked = rank_documents({"a": 100.0, "b": 60.0}, {"b": 0.5, "c": 0.4}, {}, {"d": 0.0})
    assert ranked == ["b", "a", "c", "d"]  # 1.6, 1, 0.8, 0


def test_a_document_in_several_partitions_votes_for_that_of_its_best_passage() -> None:
    place, entity = Place(4, 0), Place(9, 0)
    mentions = [
        Mention(entity, "a", 1, 5),
        Mention(entity, "b", 2, 1),
        Mention(entity, "b", 3, 2),
        Mention(Place(9, 1), "b", 2, 1),
    ]
    homes = place_documents({place: "a", Place(5, 1): "a"}, mentions)
    assert homes == {"a": 4, "b": 2}  # two of each: the lower partition
    votes = count_document_votes(["b", "a"], homes)
    assert votes == pytest.approx({2: 1 / 3, 4: 1 / 4})


def test_a_partition_without_a_node_that_matches_is_read_for_its_documents() -> None:
    nodes = (EvidenceNode(1, 0, 10.0),)
    found = Evidence(nodes, document_votes={1: 0.4, 2: 0.3})
    nearest = [Route(partition=number, similarity=0.5, reason="near") for number in (2, 1, 3)]
    routed = route_by_evidence(
        found, [], PGSConfig(min_sweep_partitions=3), nearest=nearest, titles={1: "Title"}
    )
    assert [(one.partition, one.evidence) for one in routed.routes] == [(1, 1), (2, 0), (3, 0)]
    assert [one.reason for one in routed.routes] == [
        "“Title” matches the question",
        "documents that go with the best-matching nodes",
        "near",
    ]
