"""Routing: relevance, cap, minimum, fraction, broad questions, and honest fallbacks."""

from dataclasses import replace

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import Partition
from pgs_neo4j.pgs.evidence_routes import route_by_evidence, speaks, unknown_words
from pgs_neo4j.pgs.relevance import route
from pgs_neo4j.retrieval.evidence import Evidence, EvidenceNode
from pgs_neo4j.retrieval.question import is_broad


def partitions(*cosines, sizes=None):
    """Partitions whose centroids have these cosines to the question (1, 0)."""
    sizes = sizes or [100 - i for i in range(len(cosines))]
    return [
        Partition(
            id=i + 1,
            size=sizes[i],
            tokens=1,
            centroid=None
            if cosine is None
            else 3 * np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32),
        )
        for i, cosine in enumerate(cosines)
    ]


QUESTION = np.array([1.0, 0.0], dtype=np.float32)


def chosen(routing):
    return [r.partition for r in routing.routes]


def test_relevant_partitions_come_best_first_with_a_reason():
    routing = route("why", QUESTION, partitions(0.3, 0.9, 0.1), PGSConfig())
    assert chosen(routing) == [2, 1]
    assert routing.routes[0].similarity == pytest.approx(0.9, abs=1e-6)
    assert "0.90 reaches 0.25" in routing.routes[0].reason
    assert routing.best_similarity == pytest.approx(0.9, abs=1e-6)
    assert not routing.fallback
    assert not routing.broad


def test_a_similarity_equal_to_the_threshold_is_relevant():
    routing = route("why", QUESTION, partitions(1.0), PGSConfig(partition_relevance_threshold=1.0))
    assert chosen(routing) == [1]
    assert not routing.fallback


def test_the_cap_holds():
    config = PGSConfig(max_sweep_partitions=2)
    assert chosen(route("why", QUESTION, partitions(0.5, 0.6, 0.7), config)) == [3, 2]


def test_the_minimum_is_filled_with_the_nearest():
    config = PGSConfig(min_sweep_partitions=3)
    routing = route("why", QUESTION, partitions(0.9, 0.1, 0.2, 0.0), config)
    assert chosen(routing) == [1, 3, 2]
    assert "to reach the minimum of 3" in routing.routes[1].reason


def test_a_minimum_above_the_cap_wins():
    config = PGSConfig(min_sweep_partitions=3, max_sweep_partitions=1)
    assert len(route("why", QUESTION, partitions(0.9, 0.8, 0.7, 0.6), config).routes) == 3


@pytest.mark.parametrize(("fraction", "count"), [(0.5, 2), (0.1, 1), (1.0, 4), (0.26, 2)])
def test_a_fraction_replaces_the_cap(fraction, count):
    config = PGSConfig(sweep_fraction=fraction, max_sweep_partitions=1)
    assert len(route("why", QUESTION, partitions(0.9, 0.8, 0.7, 0.6), config).routes) == count


def test_nothing_relevant_is_said_plainly_and_falls_back_to_the_nearest():
    routing = route("why", QUESTION, partitions(0.1, 0.2, 0.05, 0.15), PGSConfig())
    assert chosen(routing) == [2, 4, 1]
    assert routing.fallback
    assert "no partition reaches the relevance threshold 0.25" in routing.note
    assert "best similarity 0.20" in routing.note


def test_without_a_vector_the_largest_are_taken_up_to_the_cap():
    config = PGSConfig(max_sweep_partitions=2)
    found = partitions(0.1, 0.2, 0.3, sizes=[5, 50, 9])
    routing = route("why", None, found, config, note="no embedder")
    assert chosen(routing) == [2, 3]
    assert routing.routes[0].similarity is None
    assert routing.note == "no embedder"


def test_partitions_without_a_centroid_do_not_break_scoring():
    assert chosen(route("why", QUESTION, partitions(None, 0.9), PGSConfig())) == [2]


def test_without_any_centroid_routing_falls_back_to_size():
    assert chosen(route("why", QUESTION, partitions(None, None), PGSConfig())) == [1, 2]


def test_centroids_of_another_length_are_not_compared():
    vector = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    routing = route("why", vector, partitions(0.9, 0.1), PGSConfig())
    assert all(r.similarity is None for r in routing.routes)


def test_a_full_sweep_takes_everything_whatever_the_cap():
    config = PGSConfig(max_sweep_partitions=1)
    routing = route("why", QUESTION, partitions(0.0, 0.1, 0.2), config, full_sweep=True)
    assert len(routing.routes) == 3


def test_continue_takes_the_rest_irrelevant_or_not_scored_or_not():
    found = partitions(0.1, None, 0.2)
    routing = route("why", QUESTION, found, PGSConfig(), everything_unread=True)
    assert chosen(routing) == [3, 1, 2]
    assert routing.routes[2].similarity is None


def test_centering_tells_apart_what_is_close_to_everything():
    directions = [[1, 0.1, 0], [1, 0, 0.1], [1, -0.1, -0.1]]
    found = [
        Partition(id=i + 1, size=10, tokens=1, centroid=np.array(d, dtype=np.float32))
        for i, d in enumerate(directions)
    ]
    borrowed = np.array([1, 0.09, 0.0], dtype=np.float32)
    assert len(route("why", borrowed, found, PGSConfig()).routes) == 3
    assert chosen(route("why", borrowed, found, PGSConfig(), centered=True)) == [1]


@pytest.mark.parametrize(
    "question",
    [
        "What are the gaps in this research?",
        "Give me a comprehensive overview of the field",
        "Do a full sweep for anything on batteries",
        "Which methods appear across all domains?",
        "Tell me everything about the catalyst",
        "What are the main themes here?",
    ],
)
def test_broad_questions_bypass_relevance_largest_first(question):
    assert is_broad(question)
    config = PGSConfig(max_sweep_partitions=2)
    found = partitions(0.0, 0.1, 0.9, sizes=[5, 50, 9])
    routing = route(question, QUESTION, found, config)
    assert chosen(routing) == [2, 3]
    assert routing.broad


@pytest.mark.parametrize(
    "question",
    [
        "How does asyncio cancel a task?",
        "How does asyncio cancel a task, and what is missing?",
        "Which catalyst has the highest yield?",
        "Why was the missing mass problem settled?",
        "Who reviewed the main paper?",
    ],
)
def test_focused_questions_are_not_broad(question):
    assert not is_broad(question)


def ranked(*pairs):
    """Evidence of (partition, score) pairs, best first."""
    nodes = tuple(EvidenceNode(part, rank, score) for rank, (part, score) in enumerate(pairs))
    return Evidence(nodes, word_count=2)


def test_partitions_with_most_of_the_best_evidence_are_read():
    found = ranked((2, 10.0), (1, 8.0), (3, 6.0))  # squared: 1, 0.64, 0.36
    routing = route_by_evidence(found, partitions(0.1, 0.2, 0.3, 0.4), PGSConfig())
    assert chosen(routing) == [2, 1]
    assert routing.considered == 4
    assert not routing.fallback
    assert all(one.similarity is None for one in routing.routes)


def test_a_reason_names_the_best_node_and_counts_the_others():
    found = ranked((1, 9.0), (1, 8.0), (2, 8.8), (3, 8.7))
    routing = route_by_evidence(
        found, partitions(0.1, 0.2, 0.3), PGSConfig(), titles={1: "Chelsea", 2: "Arsenal"}
    )
    assert [one.reason for one in routing.routes] == [
        "“Chelsea” and 1 more of the best-matching nodes",
        "“Arsenal” matches the question",
        "1 node matches the question",
    ]


def test_the_cap_and_the_fraction_limit_evidence():
    found = ranked((1, 5.0), (2, 5.0), (3, 5.0), (4, 5.0))
    parts = partitions(0.1, 0.2, 0.3, 0.4)
    assert chosen(route_by_evidence(found, parts, PGSConfig(max_sweep_partitions=2))) == [1, 2]
    assert chosen(route_by_evidence(found, parts, PGSConfig(sweep_fraction=0.7))) == [1, 2, 3]


def test_the_minimum_is_filled_by_weaker_evidence_then_by_the_nearest():
    found = ranked((2, 10.0), (3, 1.0))
    nearest = route("why", QUESTION, partitions(0.9, 0.8, 0.7, 0.6), PGSConfig()).routes
    config = PGSConfig(min_sweep_partitions=3)
    routing = route_by_evidence(found, partitions(0.9, 0.8, 0.7, 0.6), config, nearest=nearest)
    assert chosen(routing) == [2, 3, 1]
    assert "reaches" in routing.routes[2].reason


def test_what_is_unread_is_taken_up_to_the_cap():
    found = ranked((3, 10.0))
    parts = partitions(0.9, 0.8, 0.7, 0.6)
    nearest = route("why", QUESTION, parts, PGSConfig(), everything_unread=True).routes
    routing = route_by_evidence(
        found,
        parts,
        PGSConfig(max_sweep_partitions=3),
        nearest=nearest,
        everything_unread=True,
    )
    assert chosen(routing) == [3, 1, 2]


def test_a_route_names_the_ranks_of_its_best_nodes():
    found = ranked((1, 9.0), (2, 8.9), (1, 8.0))
    routing = route_by_evidence(found, partitions(0.1, 0.2), PGSConfig())
    assert [one.matches for one in routing.routes] == [(0, 2), (1,)]
    many = ranked(*[(1, 9.0)] * 50)
    assert len(route_by_evidence(many, partitions(0.1), PGSConfig()).routes[0].matches) == 20


def test_words_that_no_text_holds_are_noted():
    found = Evidence((EvidenceNode(1, 0, 1.0),), unknown=("tungsten",), word_count=2)
    note = route_by_evidence(found, partitions(0.1), PGSConfig()).note
    assert note == "no text holds “tungsten”"
    advised = replace(found, advice="make an index")
    note = route_by_evidence(advised, partitions(0.1), PGSConfig()).note
    assert note == "no text holds “tungsten”; make an index"
    many = Evidence((), unknown=tuple("abcdefg"), word_count=7)
    assert unknown_words(many) == "no text holds “a”, “b”, “c”, “d”, “e” and 2 more words"
    assert unknown_words(Evidence(())) == ""


@pytest.mark.parametrize(
    ("unknown", "cosine", "expected"),
    [
        (("a",), None, True),
        (("a", "b"), None, False),
        (("a", "b"), 0.2, False),
        (("a", "b"), 0.3, True),
    ],
)
def test_a_known_word_or_a_near_embedding_speaks_to_a_question(unknown, cosine, expected):
    found = Evidence((), unknown=unknown, word_count=2, best_cosine=cosine)
    assert speaks(found, 0.25) is expected
    assert speaks(Evidence(()), 0.25)  # without content words there is nothing to miss
