"""Surveys and proposals on databases that hold what users' databases hold."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.survey import (
    LabelSample,
    propose,
    read_domains,
    restrict_survey,
    survey,
    validate,
)
from pgs_neo4j.engine.survey import sample as sampling
from pgs_neo4j.errors import DatabaseAuthError, MappingError, QueryError
from pgs_neo4j.model import GraphMapping
from tests.database import alter
from tests.graphs import checksum, papers


def by_label(samples: tuple[LabelSample, ...]) -> dict[str, LabelSample]:
    return {sample.label: sample for sample in samples}


async def test_counts_and_properties_are_what_is_stored_apart_from_what_is_ours(
    db: Database,
) -> None:
    mapping = await papers(db, isolates=3)
    await catalog.add(db, "papers", GraphMapping(labels=("Paper",)))
    await alter(db, "MATCH (p:Paper) WITH p LIMIT 5 CREATE (p)-[:PGS_IN]->(:PgsPartition)")
    found = await survey(db)
    assert (found.nodes, found.relationships, found.floor) == (163, 483, None)
    (paper,) = found.labels
    assert (paper.label, paper.count, paper.sampled) == ("Paper", 163, 163)
    properties = {item.name: item for item in paper.properties}
    assert (properties["doi"].distinct, properties["doi"].types) == (163, ("STRING",))
    assert properties["abstract"].prose == 163
    assert (properties["topic"].nodes, properties["topic"].types) == (160, ("INTEGER",))
    assert (properties["score"].least, properties["score"].greatest) == (1.0, 40.0)
    assert [(t.type, t.count, t.sampled) for t in found.relationship_types] == [("CITES", 483, 483)]
    assert found.relationship_types[0].properties[0].least == 0.1
    assert dict(found.our_labels) == {"PgsGraph": 1, "PgsMeta": 1, "PgsPartition": 5}
    assert found.our_types == (("PGS_IN", 5),)
    # What is proposed is the mapping that the authors of the papers would write.
    proposed = propose(found).mapping
    assert proposed == GraphMapping(
        text=("title", "abstract"),
        title="title",
        key="doi",
        weight="score",
        relationship_weight="strength",
    )
    assert await validate(db, proposed) == await validate(db, mapping) == []


async def test_what_relationships_state_is_proposed_from_strings_and_lists(db: Database) -> None:
    await alter(
        db,
        "UNWIND range(1, 8) AS i CREATE (:Person {name: 'Person ' + i})"
        "-[:ACTED_IN {roles: ['Officer ' + i, 'Herself'], take: i}]->(:Movie {title: 'Film ' + i})",
    )
    found = await survey(db)
    (acted,) = found.relationship_types
    (roles,) = (item for item in acted.properties if item.name == "roles")
    assert (roles.texts, roles.distinct, roles.shapes) == (8, 8, (("phrase", 8),))
    proposed = propose(found).mapping
    assert proposed.relationship_text == "roles"
    assert await validate(db, proposed) == []
    await alter(
        db,
        "MATCH (p:Person) MATCH (m:Movie) WITH p, m LIMIT 40 "
        "CREATE (p)-[:REVIEWED {summary: p.name + ' found this a fine film to see once'}]->(m)",
    )
    proposal = propose(await survey(db))
    assert proposal.mapping.relationship_text == "summary"
    note = "relationship text: summary, on REVIEWED; a graph has one, so roles would replace it"
    assert note in proposal.notes


@pytest.mark.thorough
async def test_a_sample_is_bounded_spread_and_repeats(db: Database) -> None:
    await alter(
        db,
        "UNWIND range(1, 20000) AS i CREATE (:Row {place: i}) "
        "WITH i WHERE i % 2 = 0 CREATE (:Other)-[:NEXT {place: i}]->(:Other)",
    )
    first = await survey(db, ["Row"], ["NEXT"])
    assert await survey(db, ["Row"], ["NEXT"]) == first
    (rows,), (links,) = first.labels, first.relationship_types
    assert (rows.count, links.count) == (20_000, 10_000)
    assert 900 <= rows.sampled <= 1100
    assert 900 <= links.sampled <= 1100
    place = rows.properties[0]
    assert place.least is not None
    assert place.greatest is not None
    assert place.least < 500
    assert place.greatest > 19_500


async def test_a_database_without_nodes_or_labels_and_one_of_many(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = await survey(db)
    assert (empty.nodes, empty.relationships, empty.labels) == (0, 0, ())
    proposal = propose(empty)
    assert proposal.mapping == GraphMapping()
    assert proposal.notes == ("the database has no nodes yet; load some first",)
    with pytest.raises(MappingError, match="has no nodes"):
        await validate(db, GraphMapping())
    await alter(db, "UNWIND range(1, 30) AS i CREATE ({text: 'one of the nodes ' + i})")
    await alter(db, "CREATE (:Named {name: 'a'})")
    found = by_label((await survey(db)).labels)
    assert {name: sample.count for name, sample in found.items()} == {"": 30, "Named": 1}
    assert (found[""].sampled, found[""].properties[0].prose) == (30, 30)
    monkeypatch.setattr(sampling, "MAX_NAMES", 1)  # so that only the largest is sampled
    await alter(db, "CREATE (:Many {x: 1}), (:Many {x: 2}), (:Few {x: 3})")
    found = by_label((await survey(db)).labels)
    assert (found["Many"].sampled, found["Few"].sampled, found["Few"].count) == (2, 0, 1)


@pytest.mark.parametrize(
    "name",
    [
        "back`tick",
        "quo'te\"s",
        "with space",
        "`) DETACH DELETE n //",
        "$label",
        "знание🧠",
        "new\nline",
        "{a: 1}",
        " ",
        "x" * 2000,
    ],
)
async def test_hostile_names_are_only_names(db: Database, name: str) -> None:
    create = (
        "CREATE (a:$($name)), (b:$($name)), (a)-[r:$($name)]->(b) "
        "SET a = $both, b = $both, r = $weight"
    )
    both = {name: "some words of natural text here"}
    await alter(db, create, name=name, both=both, weight={name: 1.5})
    before = await checksum(db)
    found = await survey(db)
    (sample,), (link,) = found.labels, found.relationship_types
    assert (sample.label, sample.count, sample.properties[0].name) == (name, 2, name)
    assert (link.type, link.properties[0].least) == (name, 1.5)
    mapping = GraphMapping(
        labels=(name,), relationship_types=(name,), text=(name,), relationship_weight=name
    )
    assert await validate(db, mapping) == []
    assert propose(found).notes
    assert await checksum(db) == before


async def test_values_of_every_kind_are_survived(db: Database) -> None:
    values = {
        "nan": float("nan"),
        "infinite": float("inf"),
        "big": 2**63 - 1,
        "empty": "",
        "none": [],
        "flags": [True, False],
        "blob": b"\x00\xff",
        "lone": "a" * 299 + "🧠" * 10,
        "huge": "word " * 400_000,
        "vector": [0.5] * 4096,
    }
    await alter(
        db,
        "CREATE (n:Odd) SET n = $values, "
        "n.at = datetime(), n.spot = point({x: 1, y: 2}), n.span = duration('P1D')",
        values=values,
    )
    await alter(db, "CREATE (:Odd {nan: 1, vector: [1, 2]})")
    (sample,) = (await survey(db)).labels
    found = {item.name: item for item in sample.properties}
    assert found["nan"].types == ("FLOAT", "INTEGER")
    assert found["infinite"].greatest is None
    assert found["huge"].longest == 2_000_000
    assert found["vector"].sizes == ((4096, 1), (2, 1))
    assert found["none"].sizes == ((0, 1),)
    assert found["flags"].sizes == ()
    assert found["span"].types == ("DURATION",)


@pytest.mark.schema
async def test_constraints_back_a_key(db: Database) -> None:
    await alter(db, "CREATE CONSTRAINT FOR (u:User) REQUIRE u.email IS UNIQUE")
    await alter(db, "CREATE CONSTRAINT FOR (u:User) REQUIRE (u.a, u.b) IS UNIQUE")
    await alter(db, "CREATE (:User {email: 'a@b', a: 1, b: 2, id: 7})")
    (sample,) = (await survey(db)).labels
    assert [item.name for item in sample.properties if item.unique] == ["email"]


@pytest.mark.parametrize("error", [DatabaseAuthError("refused"), QueryError("refused")])
async def test_who_may_not_ask_the_count_store_gets_counts_up_to_a_limit(
    db: Database, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    await papers(db)
    exact = await survey(db)
    read = Database.read

    async def refusing(self: Database, query, **params):  # type: ignore[no-untyped-def]
        if query.name == "engine/survey/read_counts":
            raise error
        return await read(self, query, **params)

    monkeypatch.setattr(Database, "read", refusing)
    assert await survey(db) == exact
    monkeypatch.setattr(sampling, "SCAN", 50)
    cut = await survey(db)
    assert cut.floor == 50
    assert [(sample.label, sample.count) for sample in cut.labels if sample.label] == [
        ("Paper", 50)
    ]
    assert cut.nodes == 160


async def test_a_mapping_that_matches_nothing_is_refused_with_what_there_is(db: Database) -> None:
    await papers(db, topics=1, size=3)
    with pytest.raises(MappingError, match="no node is labeled Papr; the database has Paper"):
        await validate(db, GraphMapping(labels=("Papr",)))
    with pytest.raises(MappingError, match="labeled 'a`b'; the database has Paper"):
        await validate(db, GraphMapping(labels=("a`b",)))
    with pytest.raises(MappingError, match="no node has the label Papr; did you mean Paper"):
        await validate(db, GraphMapping(labels=("Paper", "Papr"), text=("abstract",)))
    with pytest.raises(MappingError, match="reserved"):
        await validate(db, GraphMapping(labels=("PgsGraph",)))
    await alter(db, "CREATE (:Author)")
    with pytest.raises(MappingError, match=r"the database has Paper, Author$"):
        await validate(db, GraphMapping(labels=("Zebra",)))
    await alter(db, "MATCH (n) REMOVE n:Paper, n:Author")
    with pytest.raises(MappingError, match=r"the database has no label at all$"):
        await validate(db, GraphMapping(labels=("Paper",)))


@pytest.mark.parametrize(
    ("mapping", "said", "noted"),
    [
        (
            GraphMapping(labels=("Paper", "Zebra"), text=("abstract",)),
            "no node has the label Zebra; the database has Paper; to store",
            "no node has the label Zebra",
        ),
        (
            GraphMapping(relationship_types=("CITES", "ZIGZAG"), text=("abstract",)),
            "no relationship has the type ZIGZAG; the database has CITES; to store",
            "no relationship has the type ZIGZAG",
        ),
        (
            GraphMapping(text=("abstract",), chunk_labels=("Zebra",), mention_types=("CITES",)),
            "no node has the label Zebra; the database has Paper; to store",
            "no node has the label Zebra",
        ),
        (
            GraphMapping(text=("abstract",), chunk_labels=("Paper",), mention_types=("ZIGZAG",)),
            "no relationship has the type ZIGZAG; the database has CITES; to store",
            "no relationship has the type ZIGZAG",
        ),
        (
            GraphMapping(text=("abstract", "zz")),
            r"no node has the property zz \(--text\); the nodes have .*; to store",
            "none of 3 sampled nodes has the property zz",
        ),
        (
            GraphMapping(labels=("Zebra",)),
            "the mapping matches no node",
            "no node has the label Zebra",
        ),
    ],
)
async def test_what_resembles_nothing_is_refused_unless_it_may_be_missing(
    db: Database, mapping: GraphMapping, said: str, noted: str
) -> None:
    await papers(db, topics=1, size=3)
    with pytest.raises(MappingError, match=said):
        await validate(db, mapping)
    assert noted in await validate(db, mapping, allow_missing=True)


async def test_a_type_that_leads_out_of_the_mapping_is_not_missing(db: Database) -> None:
    await papers(db, topics=1, size=3)
    await alter(db, "CREATE (:Chunk {text: 'a'})-[:MENTIONS]->(:Thing {name: 'b'})")
    labels = ("Paper", "Chunk")
    mapping = GraphMapping(
        labels=labels, text=("abstract",), chunk_labels=("Chunk",), mention_types=("MENTIONS",)
    )
    noted = await validate(db, mapping)
    assert not any("label" in note for note in noted)


async def test_a_property_that_nothing_has_is_refused_with_the_nearest(db: Database) -> None:
    await papers(db, topics=1, size=3)
    match = r"no node has the property abstrac \(--text\); did you mean abstract\?"
    with pytest.raises(MappingError, match=match):
        await validate(db, GraphMapping(labels=("Paper",), text=("abstract", "abstrac")))
    with pytest.raises(MappingError, match=r"zz .--key.; the nodes have abstract, doi, score"):
        await validate(db, GraphMapping(text=("abstract",), key="zz"))
    with pytest.raises(MappingError, match="no relationship has the property strenght"):
        await validate(db, GraphMapping(text=("abstract",), relationship_weight="strenght"))


async def test_a_rare_property_that_the_sample_misses_is_accepted(db: Database) -> None:
    # The sample depends on the ids of the nodes, so of 40 rare properties it misses one at least.
    rare = [f"note{i}" for i in range(40)]
    rows = [{"text": f"a row {i}"} for i in range(9000)] + [{name: "rare"} for name in rare]
    await alter(db, "UNWIND $rows AS row CREATE (n:Row) SET n = row", rows=rows)
    sampled = {one.name for one in (await survey(db)).labels[0].properties}
    missed = [name for name in rare if name not in sampled]
    assert missed
    warnings = await validate(db, GraphMapping(text=("text", missed[0])))
    assert [warning for warning in warnings if f"has the property {missed[0]}" in warning]


async def test_keys_that_nodes_share_are_refused_unless_they_are_few(db: Database) -> None:
    await papers(db)
    await alter(db, "CREATE (:Other {doi: 'doi/1'})")
    texts = GraphMapping(text=("abstract",), key="doi")
    assert await validate(db, texts) == []  # another label may use the same key
    await alter(db, "CREATE (:Paper {doi: 'doi/7', abstract: 'twice'})")
    (note,) = await validate(db, texts)
    assert note.startswith("2 of 162 nodes share their value of doi (such as 'doi/7')")
    with pytest.raises(MappingError, match="topic is not a key, because 160 of 160 nodes share"):
        await validate(db, GraphMapping(text=("abstract",), key="topic"))


async def test_domains_that_nothing_connects_are_proposed_apart(db: Database) -> None:
    await alter(
        db,
        "CREATE (:Person:Actor {name: 'Ann'})-[:ACTED_IN]->(:Movie {title: 'Rivers'}), "
        "(:Person {name: 'Bob'}), (:Actor:Star {name: 'Cid'}), "
        "(:Product {productName: 'Chai', about: 'A tea that is drunk with milk and spices.'})"
        "-[:ACTED_IN]->(:Supplier {companyName: 'Exotic'}), (:Alone {title: 'x'}), "
        "(:PgsMeta)-[:PGS_OF]->(:Alone {title: 'y'})",
    )
    found = await survey(db)
    domains = await read_domains(db, found)
    assert [one.labels for one in domains] == [
        ("Actor", "Person", "Movie", "Star"), ("Alone",), ("Product", "Supplier"),
    ]  # fmt: skip
    assert [one.relationship_types for one in domains] == [("ACTED_IN",), (), ("ACTED_IN",)]
    shop = propose(restrict_survey(found, domains[2]), domains[2].labels).mapping
    assert shop.labels == ("Product", "Supplier")
    assert shop.titles == ("Product.productName",)
    assert shop.title == "companyName"
    assert await validate(db, shop) == []


async def test_chosen_labels_are_proposed_with_the_types_between_them_alone(db: Database) -> None:
    await alter(
        db,
        "UNWIND range(1, 9) AS i "
        "CREATE (:Person {name: 'Ann ' + i})-[:REVIEWED {summary: 'It is a slow film ' + i}]->"
        "(:Movie {title: 'Rivers ' + i}), "
        "(:Sensor {name: 'Gauge ' + i})-[:IN {weight: i}]->(:Room {name: 'Hall ' + i}), "
        "(:Sensor {name: 'Dial ' + i})-[:SEEN_BY]->(:Person {name: 'Bob ' + i})",
    )
    chosen = ("Sensor", "Room")
    found = await survey(db, chosen)
    assert [one.type for one in found.relationship_types] == ["IN"]
    assert propose(found, chosen).mapping.relationship_text is None
    everything = await survey(db, chosen, ("REVIEWED",))
    assert [one.type for one in everything.relationship_types] == ["REVIEWED"]
    films = propose(await survey(db, ("Movie", "Person")), ("Movie", "Person")).mapping
    assert films.relationship_text == "summary"
