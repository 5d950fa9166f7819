"""The fold: free of order, with one entity for each name and type, and strays where they belong."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.documents.fold.contribution import Contribution, EntityMention, contribution_of
from pgs_neo4j.documents.fold.folding import assign_types, fold
from pgs_neo4j.documents.fold.tallies import (
    JOINED_FRAGMENTS,
    MOST_CHUNKS,
    MOST_FRAGMENTS,
    EntityTally,
    RelationTally,
    entity_id,
    join_fragments,
    keep_lowest,
)
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.documents import random_extraction, relation_of


def some_contributions(seed: int) -> list[Contribution]:
    random = Random(seed)
    return [
        contribution_of(f"c{place}", random_extraction(random), sure=random.random() < 0.5)
        for place in range(12)
    ]


@pytest.mark.parametrize(
    ("counts", "assigned"),
    [
        ({}, {}),
        ({"Person": 0}, {}),
        ({"Person": 1}, {"Person": "Person"}),
        ({"Person": 1, "Location": 3}, {"Person": "Location", "Location": "Location"}),
        ({"Person": 1, "Location": 2}, {"Person": "Person", "Location": "Location"}),
        ({"Person": 3, "Location": 99}, {"Person": "Person", "Location": "Location"}),
        ({"B": 4, "A": 4, "C": 1}, {"A": "A", "B": "B", "C": "A"}),
    ],
)
def test_a_stray_type_joins_the_commonest_and_others_stay_apart(
    counts: dict[str, int], assigned: dict[str, str]
) -> None:
    assert assign_types(counts) == assigned


@given(st.dictionaries(st.sampled_from("ABCD"), st.integers(0, 12)))
def test_every_type_belongs_to_one_that_belongs_to_itself(counts: dict[str, int]) -> None:
    assigned = assign_types(counts)
    assert assigned.keys() == {kind for kind, count in counts.items() if count}
    assert all(assigned[main] == main for main in assigned.values())


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_chunks_changes_nothing_and_what_is_counted_stands_in_them(seed: int) -> None:
    chunks = some_contributions(seed)
    graph, other = fold(chunks), fold(Random(seed).sample(chunks, len(chunks)))
    assert (graph.entities, graph.relations) == (other.entities, other.relations)
    assert {*graph.mentions} == {*other.mentions}
    mentions = Counter(row.entity for row in graph.mentions)
    assert mentions == {id_: row.mentions for id_, row in graph.entities.items()}
    assert sum(mentions.values()) == sum(len(chunk.mentions) for chunk in chunks)
    for row in graph.relations.values():
        assert {row.source, row.target} <= graph.entities.keys()
        assert row.source != row.target
        assert 1 <= len(row.chunks) <= min(row.mentions, MOST_CHUNKS)


def test_a_tally_in_parts_is_the_tally_at_once() -> None:
    mentions = [
        EntityMention(key="A", type="T", name=f"a{place % 3}", description=f"text {place % 90}")
        for place in range(200)
    ]
    whole, parts = EntityTally(), [EntityTally(), EntityTally()]
    for place, mention in enumerate(mentions):
        whole.add(mention)
        parts[place % 2].add(mention)
    parts[1].merge(parts[0])
    assert parts[1] == whole
    assert (whole.count, len(whole.fragments), whole.name) == (200, MOST_FRAGMENTS, "a0")


def test_a_relation_is_spoken_for_by_its_weightiest_statement() -> None:
    entities = tuple(GroundedEntity(name=name, type="T") for name in ("A", "B"))
    tally = RelationTally()
    for place, weight in enumerate((0.1, 0.9, 0.5)):
        stated = relation_of(*entities, fact=f"fact {place}", weight=weight)
        (one,) = contribution_of(f"c{place}", GroundedExtraction(entities, (stated,))).statements
        tally.add(f"c{place}", one)
    assert tally.best is not None
    assert (tally.best.fact, tally.weight, tally.count) == ("fact 1", 1500, 3)


def test_relations_without_both_ends_or_with_one_entity_are_left_out() -> None:
    entity = GroundedEntity(name="the Seine", type="River")
    same = GroundedEntity(name="Seine", type="River", spans=((4, 9),), description="A river.")
    rhine = GroundedEntity(name="Rhine", type="River")
    relations = tuple(relation_of(same, target) for target in (entity, rhine))
    made = contribution_of("c", GroundedExtraction((entity, same), relations))
    assert made.statements == ()
    (mention,) = made.mentions
    assert (mention.key, mention.name, mention.spans) == ("SEINE", "Seine", ((4, 9),))


@pytest.mark.parametrize(
    ("chunks", "viewed"), [([False], False), ([True], True), ([False, False], True)]
)
def test_a_term_of_one_chunk_alone_is_not_in_the_view(chunks: list[bool], viewed: bool) -> None:
    once = GroundedExtraction((GroundedEntity(name="Rhine", type="River"),))
    graph = fold(contribution_of(f"c{at}", once, sure=sure) for at, sure in enumerate(chunks))
    assert graph.entities[entity_id(("RHINE", "River"))].viewed is viewed


@given(st.lists(st.text("abc", min_size=1, max_size=4), max_size=20))
def test_few_descriptions_are_joined_and_few_chunks_are_named(texts: list[str]) -> None:
    assert len(join_fragments(texts).splitlines()) <= JOINED_FRAGMENTS
    kept = keep_lowest(texts)
    assert [*kept] == sorted(kept)
    assert len(kept) == min(len({*texts}), MOST_CHUNKS)
