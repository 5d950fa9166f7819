"""A change worked out from its neighborhood leaves the graph that all chunks make at once."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.documents import stored
from pgs_neo4j.documents.fold.tallies import MOST_CHUNKS, MOST_FRAGMENTS, RelationPlace, RelationRow
from pgs_neo4j.documents.publish.change import MovedMentions
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.documents import random_extraction, random_judgments, random_rulings, relation_of
from tests.fakes.documents import DocumentGraph, Said, graph_of

SEINE_PARIS: RelationPlace = (("SEINE", "River"), "CROSSES", ("PARIS", "Location"))


def named(name: str = "Paris", kind: str = "Location", text: str = "") -> Said:
    """A chunk that mentions one entity."""
    return GroundedExtraction((GroundedEntity(name=name, type=kind, description=text),)), True


def related(fact: str, weight: float = 1.0) -> Said:
    """A chunk that says how the Seine and Paris are related."""
    ends = GroundedEntity(name="Seine", type="River"), GroundedEntity(name="Paris", type="Location")
    stated = relation_of(*ends, type="CROSSES", fact=fact, keywords=("a",), weight=weight)
    return GroundedExtraction(ends, (stated,)), True


def crossing(graph: DocumentGraph) -> RelationRow:
    return graph.relations[SEINE_PARIS]


@settings(max_examples=25)
@given(st.integers(0, 2**32))
async def test_any_history_ends_at_what_its_chunks_make_at_once(seed: int) -> None:
    """The graph also compares itself after each change."""
    random, graph = Random(seed), DocumentGraph()
    for _ in range(12):
        ids = [f"c{id_}" for id_ in random.sample(range(12), random.randint(1, 4))]
        gone = [id_ for id_ in ids if id_ in graph.chunks and random.random() < 0.5]
        coming = {
            id_: (random_extraction(random), random.random() < 0.5)
            for id_ in ids
            if id_ not in gone
        }
        await graph.write(gone, **coming)
        if random.random() < 0.4:
            await graph.rule(random_rulings(random, graph.ruled))
        if random.random() < 0.3:
            await graph.judge(*random_judgments(random))
    graph.assert_whole()


async def test_only_the_neighborhood_of_a_change_is_written() -> None:
    graph = DocumentGraph()
    await graph.write()
    assert graph.database.sent == []
    graph = await graph_of(a=related("It crosses."), b=named("Rhine", "River"))
    change = await graph.write(c=named("Rhine", "River", "Long."))
    assert change.entities.keys() == {"entity:River:RHINE"}
    assert [row.chunk for row in change.mentions] == ["c"]
    assert (change.relations, change.unbound) == ({}, ())


async def test_a_stray_type_joins_and_parts_again_when_chunks_come_and_go() -> None:
    graph = await graph_of(stray=named(kind="Person"), first=named(), second=named())
    hero, city = "entity:Person:PARIS", "entity:Location:PARIS"
    assert graph.entities.keys() == {hero, city}
    joining = await graph.write(third=named())
    assert (joining.vanished, joining.unbound) == ((hero,), ())
    assert joining.moved == (MovedMentions(hero, city, "Person", ["Paris"]),)
    assert graph.entities[city].mentions == 4
    parting = await graph.write(["first"])
    assert (parting.vanished, parting.unbound) == ((), ())
    assert parting.moved == (MovedMentions(city, hero, "Person", ["Paris"]),)
    assert graph.entities[hero].mentions == 1


async def test_what_the_ends_of_a_relation_share_is_read_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stored, "READ_CHUNKS", 4)
    graph = await graph_of(**{f"c{at:02}": related(f"So {at}.", at / 20) for at in range(11)})
    graph.database.sent.clear()
    await graph.write(["c10"])
    read = graph.database.params("read_shared_chunks")
    assert [page["after"] for page in read] == ["", "c03", "c07"]
    assert (crossing(graph).fact, crossing(graph).mentions) == ("So 9.", 10)


async def test_a_relation_that_only_grows_is_added_to_what_stands() -> None:
    graph = await graph_of(a=related("Likely.", 0.6))
    graph.database.sent.clear()
    await graph.write(b=related("Surely.", 0.9))
    assert graph.database.params("read_shared_chunks") == []
    assert (crossing(graph).fact, crossing(graph).weight) == ("Surely.", 1.5)
    await graph.write(c=related("Perhaps.", 0.1))
    assert (crossing(graph).fact, crossing(graph).mentions) == ("Surely.", 3)


async def test_a_relation_names_another_chunk_when_its_lowest_goes() -> None:
    ids = sorted((f"c{number}" for number in range(MOST_CHUNKS + 3)), key=text_hash)
    graph = await graph_of(**{id_: related("So.") for id_ in ids})
    assert [*crossing(graph).chunks] == ids[:MOST_CHUNKS]
    await graph.write(ids[:1])
    assert [*crossing(graph).chunks] == ids[1 : MOST_CHUNKS + 1]


async def test_a_hub_with_many_descriptions_is_described_as_if_made_at_once() -> None:
    texts = sorted((f"Paris is {number}." for number in range(MOST_FRAGMENTS + 20)), key=text_hash)
    first = {f"c{at}": named(text=text) for at, text in enumerate(texts) if at % 2}
    graph = await graph_of(**first)
    await graph.write(**{f"c{at}": named(text=text) for at, text in enumerate(texts) if not at % 2})
    hub = graph.entities["entity:Location:PARIS"]
    assert (hub.mentions, hub.description.splitlines()[:2]) == (len(texts), texts[:2])
    await graph.write(["c0", "c3"])
    hub = graph.entities["entity:Location:PARIS"]
    assert hub.description.splitlines()[:2] == texts[1:3]
    assert {row["most"] for row in graph.database.params("read_names")} == {MOST_FRAGMENTS}
