"""Routing: relevance, cap, minimum, fraction, broad questions, and honest fallbacks."""

from dataclasses import replace

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import Partition
from pgs_neo4j.pgs.relevance import (
    is_broad,
    matches_question,
    route,
    route_by_evidence,
    unknown_words,
)
from pgs_neo4j.search.evidence import Evidence, EvidenceNode


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
FOUR = (0.9, 0.8, 0.7, 0.6)


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


@pytest.mark.parametrize(
    ("cosines", "knobs", "asked", "expected"),
    [
        # As similar as the threshold is relevant.
        ((1.0, 0.9), {"partition_relevance_threshold": 1.0}, {}, [1]),
        ((0.5, 0.6, 0.7), {"max_sweep_partitions": 2}, {}, [3, 2]),
        # A minimum is filled with the nearest, and wins over the cap.
        ((0.9, 0.1, 0.2, 0.0), {"min_sweep_partitions": 3}, {}, [1, 3, 2]),
        (FOUR, {"min_sweep_partitions": 3, "max_sweep_partitions": 1}, {}, [1, 2, 3]),
        # A fraction replaces the cap, and is rounded up.
        (FOUR, {"sweep_fraction": 0.5, "max_sweep_partitions": 1}, {}, [1, 2]),
        (FOUR, {"sweep_fraction": 0.1, "max_sweep_partitions": 1}, {}, [1]),
        (FOUR, {"sweep_fraction": 1.0, "max_sweep_partitions": 1}, {}, [1, 2, 3, 4]),
        (FOUR, {"sweep_fraction": 0.26, "max_sweep_partitions": 1}, {}, [1, 2]),
        # Partitions without a centroid are passed over; if none has one, size decides.
        ((None, 0.9), {}, {}, [2]),
        ((None, None), {}, {}, [1, 2]),
        # To continue, also what is irrelevant or not scored.
        ((0.1, None, 0.2), {}, {"everything_unread": True}, [3, 1, 2]),
    ],
)
def test_relevance_cap_minimum_and_fraction_decide(cosines, knobs, asked, expected):
    routing = route("why", QUESTION, partitions(*cosines), PGSConfig(**knobs), **asked)
    assert chosen(routing) == expected
    assert not routing.fallback
    for one in routing.routes:
        cosine = cosines[one.partition - 1]
        assert one.similarity == (None if cosine is None else pytest.approx(cosine, abs=1e-6))
        if cosine is not None and cosine < 0.25 and not asked:
            assert "to reach the minimum of 3" in one.reason


def test_a_full_sweep_takes_everything_whatever_the_cap():
    config = PGSConfig(max_sweep_partitions=1)
    routing = route("why", QUESTION, partitions(0.0, 0.1, 0.2), config, full_sweep=True)
    assert chosen(routing) == [1, 2, 3]


def test_without_comparable_vectors_the_largest_are_taken_up_to_the_cap():
    vector = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    routing = route("why", vector, partitions(0.9, 0.1), PGSConfig())
    assert all(r.similarity is None for r in routing.routes)
    config = PGSConfig(max_sweep_partitions=2)
    found = partitions(0.1, 0.2, 0.3, sizes=[5, 50, 9])
    routing = route("why", None, found, config, note="no embedder")
    assert chosen(routing) == [2, 3]
    assert routing.routes[0].similarity is None
    assert routing.note == "no embedder"


def test_nothing_relevant_is_said_plainly_and_falls_back_to_the_nearest():
    routing = route("why", QUESTION, partitions(0.1, 0.2, 0.05, 0.15), PGSConfig())
    assert chosen(routing) == [2, 4, 1]
    assert routing.fallback
    assert "no partition reaches the relevance threshold 0.25" in routing.note
    assert "best similarity 0.20" in routing.note


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
    ("question", "broad"),
    [
        ("What are the gaps in this research?", True),
        ("Give me a comprehensive overview of the field", True),
        ("Do a full sweep for anything on batteries", True),
        ("Which methods appear across all domains?", True),
        ("Tell me everything about the catalyst", True),
        ("What are the main themes here?", True),
        ("How does asyncio cancel a task, and what is missing?", False),
        ("Which catalyst has the highest yield?", False),
        ("Why was the missing mass problem settled?", False),
        ("Who reviewed the main paper?", False),
    ],
)
def test_broad_questions_bypass_relevance_largest_first(question, broad):
    assert is_broad(question) == broad
    config = PGSConfig(max_sweep_partitions=2)
    found = partitions(0.0, 0.1, 0.9, sizes=[5, 50, 9])
    routing = route(question, QUESTION, found, config)
    assert (chosen(routing), routing.broad) == ([2, 3] if broad else [3], broad)


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


def test_a_route_has_the_best_node_the_number_of_others_and_their_ranks():
    found = ranked((1, 9.0), (1, 8.0), (2, 8.8), (3, 8.7))
    routing = route_by_evidence(
        found, partitions(0.1, 0.2, 0.3), PGSConfig(), titles={1: "Chelsea", 2: "Arsenal"}
    )
    assert [(one.reason, one.matches) for one in routing.routes] == [
        ("“Chelsea” and 1 more of the best-matching nodes", (0, 1)),
        ("“Arsenal” matches the question", (2,)),
        ("1 node matches the question", (3,)),
    ]
    many = ranked(*[(1, 9.0)] * 50)
    assert len(route_by_evidence(many, partitions(0.1), PGSConfig()).routes[0].matches) == 20


@pytest.mark.parametrize(
    ("pairs", "knobs", "everything", "expected"),
    [
        ([(1, 5.0), (2, 5.0), (3, 5.0), (4, 5.0)], {"max_sweep_partitions": 2}, False, [1, 2]),
        ([(1, 5.0), (2, 5.0), (3, 5.0), (4, 5.0)], {"sweep_fraction": 0.7}, False, [1, 2, 3]),
        # A minimum is filled by weaker evidence, then by the nearest.
        ([(2, 10.0), (3, 1.0)], {"min_sweep_partitions": 3}, False, [2, 3, 1]),
        # What is unread is taken up to the cap.
        ([(3, 10.0)], {"max_sweep_partitions": 3}, True, [3, 1, 2]),
        # A minimum above the cap wins.
        ([(3, 10.0)], {"max_sweep_partitions": 1, "min_sweep_partitions": 3}, True, [3, 1, 2]),
    ],
)
def test_cap_fraction_and_minimum_hold_for_evidence(pairs, knobs, everything, expected):
    parts, asked = partitions(*FOUR), {"everything_unread": everything}
    nearest = route("why", QUESTION, parts, PGSConfig(), **asked).routes
    routing = route_by_evidence(ranked(*pairs), parts, PGSConfig(**knobs), nearest=nearest, **asked)
    assert chosen(routing) == expected
    if len(pairs) == 2:
        assert "reaches" in routing.routes[2].reason


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
    assert matches_question(found, 0.25) is expected
    assert matches_question(Evidence(()), 0.25)  # without content words there is nothing to miss
