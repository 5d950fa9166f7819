"""Entities of columns join what a model or statistics found in a chunk."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.documents.fold.contribution import contribution_of
from pgs_neo4j.model.documents import (
    Chunk,
    DocumentText,
    GivenEntity,
    GroundedEntity,
    GroundedExtraction,
    GroundedRelation,
)
from pgs_neo4j.text.chunking import ChunkRules, chunk_document
from pgs_neo4j.text.extraction.given import add_given
from pgs_neo4j.text.extraction.schema import EntitySchema, prune

TEXT = "author: Marie Curie\n\nMarie Curie found radium.\n"
GIVEN = (GivenEntity("Marie Curie", "Person", 8, 19),)


def chunk_of(*given: GivenEntity) -> Chunk:
    (chunk,) = chunk_document(DocumentText(text=TEXT, given=given))
    return chunk


def found(*, type_: str = "Organization") -> GroundedExtraction:
    return GroundedExtraction(
        (
            GroundedEntity(
                name="marie curie",
                type=type_,
                description="She.",
                spans=((21, 32),),
                sentences=(2,),
            ),
            GroundedEntity(name="radium", type="Concept", spans=((39, 45),), sentences=(2,)),
        ),
        (
            GroundedRelation(
                source="marie curie", source_type=type_, target="radium", target_type="Concept",
                type="FOUND", fact="She found it.", sentences=(2,),
            ),
        ),
    )  # fmt: skip


def test_a_given_entity_is_one_with_what_was_found_under_its_type() -> None:
    joined = add_given(found(), chunk_of(*GIVEN))
    curie, radium = joined.entities
    assert (curie.name, curie.type, curie.given) == ("Marie Curie", "Person", True)
    assert (curie.spans, curie.description) == (((8, 19), (21, 32)), "She.")
    assert (curie.sentences, radium.given) == ((1, 2), False)
    (relation,) = joined.relations
    assert (relation.source, relation.source_type) == ("Marie Curie", "Person")
    told = contribution_of("c", prune(joined, EntitySchema()), sure=False)
    assert len(told.statements) == 1
    assert {mention.name: mention.sure for mention in told.mentions} == {
        "Marie Curie": True, "radium": False,
    }  # fmt: skip


def test_a_name_that_is_given_two_types_keeps_those_that_were_found() -> None:
    both = (*GIVEN, replace(GIVEN[0], type="Location"))
    joined = add_given(found(), chunk_of(*both))
    assert [(one.name, one.type) for one in joined.entities] == [
        ("Marie Curie", "Person"), ("Marie Curie", "Location"), ("marie curie", "Organization"),
        ("radium", "Concept"),
    ]  # fmt: skip
    assert joined.relations == found().relations


def test_given_entities_are_in_the_chunk_in_which_they_begin() -> None:
    lines = [f"column {n}: value {n}\n\n" for n in range(60)]
    text = "".join(lines)
    given = tuple(
        GivenEntity(f"value {n}", "Concept", at, at + len(f"value {n}"))
        for n in range(60)
        for at in [text.index(f"value {n}\n")]
    )
    chunks = [*chunk_document(DocumentText(text=text, given=given), ChunkRules(size=50))]
    assert len(chunks) > 3
    assert sum(len(chunk.given) for chunk in chunks) == 60
    for chunk in chunks:
        for one in chunk.given:
            assert chunk.text[one.start : one.end] == one.name


def test_an_entity_that_the_end_of_a_chunk_divides_has_no_place_in_it() -> None:
    chunk = replace(chunk_of(), given=(GivenEntity("radium and more", "Concept", 39, 54),))
    (entity,) = add_given(GroundedExtraction(), chunk).entities
    assert (entity.implicit, entity.given, entity.sentences) == (True, True, (2,))
