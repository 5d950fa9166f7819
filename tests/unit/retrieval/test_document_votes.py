"""Documents vote once each, by their best passage."""

from __future__ import annotations

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.pgs.evidence_routes import choose_by_evidence
from pgs_neo4j.retrieval.document_votes import vote_by_documents
from pgs_neo4j.retrieval.evidence import Evidence, EvidenceNode
from pgs_neo4j.retrieval.places import Place


def evidence_of(*found: tuple[int, str]) -> Evidence:
    """Evidence of nodes, best first: the partition and the document of each, empty for none."""
    nodes = tuple(
        EvidenceNode(partition, rank, 100.0 - rank) for rank, (partition, _) in enumerate(found)
    )
    documents = {
        node.place: document for node, (_, document) in zip(nodes, found, strict=True) if document
    }
    votes = vote_by_documents([node.place for node in nodes], documents)
    return Evidence(nodes, document_votes=votes)


def test_a_document_votes_once_by_its_best_passage() -> None:
    places = [Place(1, 0), Place(1, 1), Place(2, 0), Place(1, 2), Place(3, 0)]
    documents = dict(zip(places, ("a", "a", "b", "a", "c"), strict=True))
    votes = vote_by_documents(places, documents)
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
    found = Evidence(nodes, document_votes=vote_by_documents([one.place for one in nodes], {}))
    assert choose_by_evidence(found, PGSConfig()) == [1, 2]


def test_partitions_with_half_of_the_votes_are_read() -> None:
    found = evidence_of(*((number, f"d{number}") for number in range(1, 9)))
    # 1/3, 1/4, 1/5, 1/6 are at least half of the first; 1/7 is not.
    assert choose_by_evidence(found, PGSConfig()) == [1, 2, 3, 4]
    assert choose_by_evidence(found, PGSConfig(max_sweep_partitions=2)) == [1, 2]
    assert choose_by_evidence(found, PGSConfig(min_sweep_partitions=6)) == [1, 2, 3, 4, 5, 6]
