"""A change reads its neighborhood, and nodes become those of entities their mentions move to."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase

import pytest

from pgs_neo4j.documents import stored
from pgs_neo4j.documents.fold.contribution import EntityMention, Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.rulings import Ruling
from pgs_neo4j.documents.fold.tallies import entity_id
from pgs_neo4j.documents.names.neighborhood import renamed_entities
from pgs_neo4j.documents.publish.change import MovedMentions
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.documents import relation_of
from tests.fakes.documents import Said, graph_of

SHORT, FULL, OTHER = ((key, "Person") for key in ("M._CURIE", "MARIE_CURIE", "MONA_CURIE"))


def person(name: str, *, text: str = "", kind: str = "Person", sure: bool = True) -> Said:
    """A chunk that mentions a person."""
    return GroundedExtraction((GroundedEntity(name=name, type=kind, description=text),)), sure


def found(name: str, thing: str = "Radium") -> Said:
    """A chunk that says what a person found."""
    ends = GroundedEntity(name=name, type="Person"), GroundedEntity(name=thing, type="Concept")
    stated = relation_of(*ends, type="FOUND", fact=f"{name} found it.")
    return GroundedExtraction(ends, (stated,)), True


def crowded(name: str, number: int) -> Said:
    """A chunk that says what a person found, and how others are related."""
    said, sure = found(name)
    ends = [GroundedEntity(name=f"{one} {number}", type="City") for one in ("Rome", "Bonn")]
    stated = relation_of(*ends, type="NEAR", fact="They are close.")
    return GroundedExtraction((*said.entities, *ends), (*said.relations, stated)), sure


def moved(name: str, source: Named, target: Named) -> MovedMentions:
    """The mentions by a name that move from one entity to another."""
    return MovedMentions(entity_id(source), entity_id(target), "Person", [name])


def ids(*entities: Named) -> set[str]:
    return {*map(entity_id, entities)}


async def test_a_fuller_name_takes_the_mentions_of_a_shorter_one_and_gives_them_back() -> None:
    graph = await graph_of(a=person("M. Curie", text="She won."))
    change = await graph.write(b=person("Marie Curie"))
    assert (change.renamed, change.vanished, change.unbound) == ({SHORT: FULL}, (), ())
    assert graph.entities[entity_id(FULL)].description == "She won."
    change = await graph.write(["b"])
    assert (change.renamed, change.vanished, change.unbound) == ({FULL: SHORT}, (), ())
    assert graph.entities.keys() == ids(SHORT)


async def test_a_name_that_fits_two_stands_apart_until_one_goes() -> None:
    graph = await graph_of(a=person("M. Curie"), b=person("Marie Curie"))
    assert graph.entities.keys() == ids(FULL)
    change = await graph.write(c=person("Mona Curie"))
    assert change.moved == (moved("M. Curie", FULL, SHORT),)
    assert graph.entities.keys() == ids(SHORT, FULL, OTHER)
    await graph.write(["b"])
    assert graph.entities.keys() == ids(OTHER)
    assert graph.entities[entity_id(OTHER)].mentions == 2


async def test_of_a_chunk_that_stays_only_what_moves_is_written() -> None:
    both = GroundedExtraction(
        (GroundedEntity(name="M. Curie", type="Person"), GroundedEntity(name="Paris", type="City"))
    )
    full = {name: person("Marie Curie") for name in ("b", "c")}
    graph = await graph_of(a=(both, True), d=person("Mona Curie"), **full)
    change = await graph.write(["d"])
    assert (change.unbound, change.mentions, change.renamed) == ((), (), {})
    assert change.moved == (moved("M. Curie", SHORT, FULL),)
    assert change.entities.keys() == ids(FULL)


async def test_of_the_chunks_of_merged_hubs_only_what_concerns_them_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are read some at a time."""
    monkeypatch.setattr(stored, "READ_CHUNKS", 4)
    birth = ("MARIA_SKŁODOWSKA", "Person")
    hubs = {f"c{at}": crowded("Marie Curie", at) for at in range(11)}
    others = {f"d{at}": crowded("Maria Skłodowska", at) for at in range(12)}
    graph = await graph_of(**hubs, **others)
    for ruled, ends in (({FULL: Ruling(birth)}, (FULL, birth)), ({}, (birth, FULL))):
        graph.database.sent.clear()
        change = await graph.rule(ruled)
        assert change.moved == (moved("Marie Curie", *ends),)
        assert (change.unbound, change.mentions) == ((), ())
        assert change.entities.keys() == ids(birth) | (ids() if ruled else ids(FULL))
        assert {kind for _, kind, _ in (*change.relations, *change.dropped)} == {"FOUND"}
        assert len(graph.database.params("read_mentioning_chunks")) >= 3


async def test_a_hub_whose_leading_name_changes_is_not_written_again() -> None:
    graph = await graph_of(**{f"c{at}": found("M. Curie") for at in range(30)})
    graph.database.sent.clear()
    change = await graph.write(new=found("Marie Curie", "Polonium"))
    assert "read_mentioning_chunks" not in [name for name, _ in graph.database.sent]
    assert {row.chunk for row in change.mentions} == {"new"}
    assert [place[2] for place in change.relations] == [("POLONIUM", "Concept")]
    assert graph.entities[entity_id(FULL)].mentions == 31
    assert graph.relations[FULL, "FOUND", ("RADIUM", "Concept")].mentions == 30


async def test_names_far_from_a_change_are_not_read() -> None:
    far = {f"far{letter}": person(f"Ida {letter * 5}a") for letter in ascii_uppercase}
    graph = await graph_of(a=person("M. Curie"), **far)
    graph.database.sent.clear()
    change = await graph.write(b=person("Marie Curie"))
    asked = graph.database.params("read_called") + graph.database.params("read_names")
    assert {id_ for row in asked for id_ in row["entities"]} == ids(SHORT)
    assert change.entities.keys() == ids(FULL)


async def test_a_known_name_is_looked_up_with_its_entity_and_not_compared() -> None:
    graph = await graph_of(a=person("Marie Curie"), b=person("M. Curie"))
    graph.database.sent.clear()
    change = await graph.write(c=person("M. Curie"))
    assert [name for name, _ in graph.database.sent] == [
        "read_present", "read_called", "read_present",
    ]  # fmt: skip
    assert (change.named, change.unnamed) == ((), ())


async def test_the_index_changes_with_what_is_known_of_a_name() -> None:
    graph = await graph_of(a=person("radium", kind="Concept", sure=False))
    change = await graph.write(b=person("radium", kind="Concept"))
    assert [one.row["traits"] for one in change.named] == ["s"]
    change = await graph.write(["b"])
    assert [one.row["traits"] for one in change.named] == [""]
    change = await graph.write(["a"])
    assert change.unnamed == (("RADIUM", "Concept"),)


Counts = Mapping[tuple[str, str, str], int]
"""Mentions that stay, by name, former entity, and new entity."""


def person_named(name: str) -> Named:
    return name, "Person"


def renamed(counts: Counts) -> dict[str, str]:
    stay = NameTallies()
    for (name, _, _), count in counts.items():
        stay.of(person_named(name))
        for _ in range(count):
            stay.add(EntityMention(key=name, type="Person", name=name))
    old = {name: {"Person": person_named(before)} for name, before, _ in counts}
    new = {name: {"Person": person_named(after)} for name, _, after in counts}
    found = renamed_entities(stay, old, new)
    return {before: after for (before, _), (after, _) in found.items()}


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({}, {}),
        ({("a", "A", "A"): 9}, {}),
        ({("a", "A", "B"): 9}, {"A": "B"}),
        ({("a", "A", "B"): 0}, {}),
        ({("a", "A", "B"): 1, ("b", "A", "A"): 2}, {}),
        ({("a", "A", "B"): 2, ("b", "A", "A"): 1}, {"A": "B"}),
        ({("a", "A", "B"): 2, ("b", "A", "A"): 2}, {}),
        ({("a", "A", "C"): 2, ("b", "B", "C"): 3}, {"B": "C"}),
        ({("a", "A", "C"): 2, ("b", "B", "C"): 2}, {"A": "C"}),
        ({("a", "A", "B"): 3, ("b", "B", "B"): 2}, {"A": "B", "B": "A"}),
        ({("a", "A", "B"): 2, ("b", "B", "A"): 2}, {"A": "B", "B": "A"}),
        ({("a", "A", "B"): 3, ("b", "B", "C"): 2}, {"A": "B", "B": "C"}),
        ({("a", "A", "B"): 3, ("b", "B", "C"): 2, ("c", "C", "C"): 9}, {"A": "B", "B": "A"}),
        ({("a", "A", "B"): 3, ("b", "B", "B"): 0}, {"A": "B", "B": "A"}),
    ],
)
def test_a_node_goes_where_most_of_its_mentions_belong(
    counts: Counts, wanted: dict[str, str]
) -> None:
    assert renamed(counts) == wanted
    assert renamed(dict(reversed([*counts.items()]))) == wanted
