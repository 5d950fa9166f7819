"""Which properties become weights and the embedding."""

import pytest

from pgs_neo4j.survey import RelationshipProperty, propose
from pgs_neo4j.survey.weighing import (
    choose_embedding,
    choose_relationship_weight,
    choose_weight,
    count_embedding_sizes,
)
from tests.unit.survey.samples import label, link, number, of, vector


@pytest.mark.parametrize("called", ["weight", "pageRank", "page_rank", "Importance", "node-score"])
def test_what_is_a_weight(called):
    found = number(called, 0.0, 4.5, type_="FLOAT")
    assert propose(of(label("Thing", found))).mapping.weight == called


@pytest.mark.parametrize(
    "found",
    [
        number("weight_id", 1, 99),
        number("score_updated_at", 1, 99),
        number("created", 1, 99),
        number("rank", 1, 99),  # a place in an order: the first is the best
        number("weight", -1, 99),
        number("weight", 1, 1),
        number("weight", 0, 9, nodes=40),
        number("weight", 0, 9, type_="STRING"),
    ],
)
def test_what_is_no_weight(found):
    assert propose(of(label("Thing", found))).mapping.weight is None


def test_the_embedding_with_the_most_nodes_wins_and_mixed_sizes_are_told():
    proposal = propose(
        of(label("A", vector("embedding", (384, 60), (512, 5)), vector("v", (3, 90))))
    )
    assert proposal.mapping.embedding == "embedding"
    note = next(note for note in proposal.notes if note.startswith("embedding"))
    assert "384 dimensions, on 65 % of the nodes" in note
    assert "(512)" in note


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (number("score", 0, 9, nodes=40), "it is on 40 % of the nodes only"),
        (number("score", -2, 9), "it has values below zero (-2)"),
        (number("score", 3, 3), "it is the same everywhere (3)"),
    ],
)
def test_an_unusable_weight_is_named_with_the_reason(candidate, reason):
    choice = choose_weight(of(label("Thing", candidate)))
    assert choice.name is None
    assert choice.notes == (
        f"score is not proposed as weight, because {reason}",
        "no weight: nodes with more relationships rank higher",
    )


def test_the_range_of_a_weight_spans_all_labels():
    below = of(label("A", number("score", 1, 9)), label("B", number("score", -1, 2)))
    assert choose_weight(below).name is None
    constant = of(label("A", number("score", 1, 1)), label("B", number("score", 2, 2)))
    assert choose_weight(constant).name == "score"


def test_a_relationship_weight_needs_half_of_all_relationships():
    score = RelationshipProperty(
        name="score", relationships=100, types=("FLOAT",), least=0.1, greatest=1.0
    )
    rare = of(link("A", score, count=400), link("B", count=600))
    choice = choose_relationship_weight(rare)
    assert choice.name is None
    assert any("40 % of the relationships" in note for note in choice.notes)
    nothing = choose_relationship_weight(of(label("A")))
    assert nothing.notes == ("no relationship weight: all relationships count the same",)
    most = of(link("A", score, count=600), link("B", count=400))
    choice = choose_relationship_weight(most)
    assert choice.name == "score"
    assert choice.notes == ("relationship weight: score, on 60 % of the relationships",)


def test_an_embedding_on_few_nodes_is_not_proposed():
    few = of(label("A", vector("embedding", (8, 9))))
    assert choose_embedding(few).name is None
    assert choose_embedding(of(label("A", vector("embedding", (8, 10))))).name == "embedding"


def test_embedding_sizes_add_up_over_the_labels():
    two = of(
        label("A", vector("embedding", (8, 10), (4, 1)), vector("other", (2, 5))),
        label("B", vector("embedding", (8, 7))),
    )
    assert count_embedding_sizes(two, "embedding") == {8: 17, 4: 1}
    assert count_embedding_sizes(two, "absent") == {}
