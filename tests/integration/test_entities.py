"""Entities are listed, shown, merged, and split; what people rule outlasts everything else."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.names.renewal import read_rulings
from pgs_neo4j.documents.publish.publication import prepare
from pgs_neo4j.documents.publish.writer import hold_documents
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError, UsageError
from pgs_neo4j.model.browsing import EntityPage
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.documents import (
    new_document,
    relation_of,
    standing,
    sure,
    write_documents,
)

MARIE, MARIA = "entity:Person:MARIE_CURIE", "entity:Person:MARIA_SKŁODOWSKA"
SHORT = "entity:Person:M._CURIE"


def said(*names: str, kind: str = "Person") -> GroundedExtraction:
    """What a chunk says that names some people; the first of two knows the second."""
    entities = tuple(
        GroundedEntity(name=name, type=kind, description=f"{name}.", spans=((0, 1),))
        for name in names
    )
    knows = tuple(
        relation_of(entities[0], one, type="KNOWS", fact=f"{names[0]} knows {one.name}.")
        for one in entities[1:]
    )
    return GroundedExtraction(entities, knows)


DOCUMENTS = (
    sure(new_document("life.md", {"one": said("Marie Curie", "Irène"), "two": said("M. Curie")})),
    sure(new_document("birth.md", {"three": said("Maria Skłodowska", "Bronisława")})),
    sure(new_document("city.md", {"four": said("Paris", kind="City"), "five": said("Paris")})),
)


@pytest.fixture
async def pgs(engine: PGS, db: Database) -> PGS:
    """An engine on a graph of three documents."""
    await prepare(db)
    await write_documents(db, *DOCUMENTS)
    return engine


def names_of(page: EntityPage) -> dict[str, str]:
    return {one.spellings[0]: f"{one.joined} {one.to}".strip() for one in page.names}


async def test_entities_are_listed_and_shown_by_any_of_their_names(pgs: PGS, db: Database) -> None:
    every = await pgs.entities("docs")
    assert [(one.name, one.mentions) for one in every[:2]] == [("M. Curie", 2), ("Paris", 1)]
    assert len(every) == 6
    assert [one.id for one in await pgs.entities("docs", limit=1)] == [MARIE]
    assert [one.id for one in await pgs.entities("docs", text="marie c")] == [MARIE]
    assert [one.id for one in await pgs.entities("docs", kind="CITY")] == ["entity:City:PARIS"]
    assert await pgs.entities("docs", text="ris", kind="person") == [
        one for one in every if one.id == "entity:Person:PARIS"
    ]
    assert await pgs.entities("others") == []
    with pytest.raises(UsageError, match="limit must be 1 or more"):
        await pgs.entities("docs", limit=0)

    page = await pgs.entities.show("docs", MARIE)
    assert [(one.document, one.name) for one in page.chunks] == [
        ("life.md", "Marie Curie"), ("life.md", "M. Curie"),
    ]  # fmt: skip
    (relation,) = page.relations
    assert (relation.type, relation.other, relation.outgoing) == ("KNOWS", "Irène", True)
    assert relation.fact == "Marie Curie knows Irène."
    assert (page.chunk_count, page.relation_count) == (2, 1)
    (relation,) = (await pgs.entities.show("docs", "Irène")).relations
    assert (relation.other_id, relation.outgoing) == (MARIE, False)

    await write_documents(db, sure(new_document("more.md", {"six": said("Curie, Marie")})))
    for wanted in ("M. Curie", "marie  CURIE", "Person:Curie, Marie", MARIE):
        page = await pgs.entities.show("docs", wanted)
        assert (page.entity.id, page.entity.mentions) == (MARIE, 3), wanted
    assert names_of(page) == {
        "Marie Curie": "leads",
        "M. Curie": f"initials {MARIE}",
        "Curie, Marie": f"spelling {MARIE}",
    }


async def test_an_entity_that_is_not_there_or_not_the_only_one_is_one_sentence(
    pgs: PGS, db: Database
) -> None:
    before = await standing(db)
    with pytest.raises(UsageError, match="graph others has no entity 'Bronisława'"):
        await pgs.entities.show("others", "Bronisława")
    with pytest.raises(UsageError, match="has no entity 'Nobody'"):
        await pgs.entities.merge("docs", ["Nobody"], "Marie Curie")
    with pytest.raises(UsageError, match=r"has no entity 'City:M\. Curie'"):
        await pgs.entities.merge("docs", ["Irène"], "City:M. Curie")
    with pytest.raises(UsageError, match="matches several entities: entity:City:PARIS, entity:P"):
        await pgs.entities.show("docs", "paris")
    with pytest.raises(UsageError, match=f"are already one entity, {MARIE}"):
        await pgs.entities.merge("docs", ["M. Curie"], "Marie Curie")
    with pytest.raises(UsageError, match="graph others has no documents"):
        await pgs.entities.merge("others", ["A"], "B")
    with pytest.raises(UsageError, match="nothing was merged into 'Marie Curie'"):
        await pgs.entities.split("docs", "Marie Curie")
    with pytest.raises(UsageError, match=f"{MARIE} has no name 'Irène'"):
        await pgs.entities.split("docs", "Marie Curie", ["Irène"])
    with pytest.raises(UsageError, match="is the leading name of its entity"):
        await pgs.entities.split("docs", "Marie Curie", ["Marie Curie"])
    async with hold_documents(db, "docs", "Docs"):
        with pytest.raises(BusyError, match="is writing the documents"):
            await pgs.entities.merge("docs", ["Irène"], "Maria Skłodowska")
    assert await standing(db) == before
    assert await read_rulings(db, "docs") == {}


async def test_a_split_restores_exactly_what_a_merge_joined(pgs: PGS, db: Database) -> None:
    before = await standing(db)
    assert await pgs.entities.merge("docs", ["M. Curie", "Irène"], "Maria Skłodowska") == MARIA
    page = await pgs.entities.show("docs", "Marie Curie")
    assert (page.entity.id, page.entity.mentions) == (MARIA, 4)
    assert names_of(page) == {
        "Maria Skłodowska": "leads",
        "Marie Curie": f"merged {MARIA}",
        "M. Curie": f"initials {MARIE}",
        "Irène": f"merged {MARIA}",
    }
    assert [one.other for one in page.relations] == ["Bronisława"]
    assert await pgs.entities.split("docs", MARIA) == [
        "entity:Person:IRÈNE", MARIA, MARIE,
    ]  # fmt: skip
    assert await standing(db) == before
    # A name parts with all that it brought, and names of one merge part together.
    await pgs.entities.merge("docs", ["Marie Curie"], "Maria Skłodowska")
    assert await pgs.entities.split("docs", "Maria Skłodowska", ["M. Curie"]) == [MARIA, MARIE]
    assert await standing(db) == before
    await pgs.entities.merge("docs", ["Marie Curie", "Irène"], "Maria Skłodowska")
    names = ["M. Curie", "Irène", "Marie Curie"]
    assert len(await pgs.entities.split("docs", "Maria Skłodowska", names)) == 3
    assert await standing(db) == before


async def test_a_variant_parts_and_joins_again(pgs: PGS, db: Database) -> None:
    assert await pgs.entities.split("docs", MARIE, ["M. Curie"]) == [SHORT, MARIE]
    await write_documents(db, sure(new_document("more.md", {"six": said("M. Curie")})))
    page = await pgs.entities.show("docs", SHORT)
    assert (names_of(page), page.entity.mentions) == ({"M. Curie": "apart"}, 2)
    assert await pgs.entities.merge("docs", [SHORT], MARIE) == MARIE
    assert (await pgs.entities.show("docs", MARIE)).entity.mentions == 3
    assert await pgs.entities.split("docs", MARIE) == [SHORT, MARIE]


async def test_namesakes_of_another_type_are_merged_by_type_and_name(pgs: PGS) -> None:
    merged = await pgs.entities.merge("docs", ["person:Paris"], "City:Paris")
    assert merged == "entity:City:PARIS"
    page = await pgs.entities.show("docs", "Paris")
    assert [(one.id, one.joined) for one in page.names] == [
        ("entity:City:PARIS", "leads"), ("entity:Person:PARIS", "merged"),
    ]  # fmt: skip
    assert len(await pgs.entities.split("docs", "Paris", ["Paris"])) == 2


@pytest.mark.schema
@pytest.mark.thorough
async def test_a_ruling_outlasts_a_purge_and_the_documents(pgs: PGS, db: Database) -> None:
    await pgs.entities.merge("docs", ["Marie Curie"], "Maria Skłodowska")
    before = await standing(db)
    await pgs.purge()
    await write_documents(db)
    assert await standing(db) == before
    await write_documents(db, gone="birth.md")
    assert (await pgs.entities.show("docs", "M. Curie")).entity.id == MARIE
    await write_documents(db, DOCUMENTS[1])
    assert await standing(db) == before
    for document in DOCUMENTS:
        await write_documents(db, gone=document.id)
    await write_documents(db, *DOCUMENTS)
    assert await standing(db) == before
