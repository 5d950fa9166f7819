"""Entities of columns join what a model or statistics found in a chunk."""

from __future__ import annotations

from dataclasses import replace

import pytest

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
from pgs_neo4j.text.extraction.additions import add_definitions, add_given
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


def defined(text: str, name: str, kind: str = "Organization") -> list[str]:
    start = text.find(name)
    spans = ((start, start + len(name)),) if start >= 0 else ()
    said = GroundedExtraction((GroundedEntity(name=name, type=kind, spans=spans),))
    found = add_definitions(said, text).definitions
    assert all((one.name, one.type) == (name, kind) for one in found)
    return [one.short for one in found]


@pytest.mark.parametrize(
    ("text", "name", "kind", "short"),
    [
        ("The World Health Organization (WHO) met.", "World Health Organization", "", "WHO"),
        ("The WHO (World Health Organization) met.", "World Health Organization", "", "WHO"),
        ("WHO (the World Health Organization, est. 1948)", "World Health Organization", "", "WHO"),
        ("World Health Organization (the \u201cWHO\u201d)", "World Health Organization", "", "WHO"),
        ("convolutional neural networks (CNNs)", "convolutional neural networks", "Concept", "CNN"),
        ("the Internet of Things (IoT) grew", "Internet of Things", "Concept", "IoT"),
        ("World Health Organization (WHO)", "World Health Organization (WHO)", "", "WHO"),
        ("", "WHO (World Health Organization)", "", "WHO"),
        ("Colorado Springs (CO) grows.", "Colorado Springs", "Location", None),
        ("Tom Mitchell (MIT) wrote.", "Tom Mitchell", "Person", None),
        ("Information Technology (it) said.", "Information Technology", "Concept", None),
        ("World Health Organization (WHO EU)", "World Health Organization", "", None),
        ("World Health Organization WHO", "World Health Organization", "", None),
        ("AWHO (World Health Organization", "World Health Organization", "", None),
        ("Mercury (planet) is hot.", "Mercury (planet)", "Location", None),
    ],
)  # fmt: skip
def test_what_is_defined(text: str, name: str, kind: str, short: str | None) -> None:
    found = defined(text or f"{name}.", name, kind or "Organization")
    assert found == ([] if short is None else [short])


def test_the_first_definition_of_a_chunk_counts_and_nothing_is_kept_of_others() -> None:
    text = "United States (US), also United States (US of A), United States (U.S.)."
    starts = [at for at in range(len(text)) if text.startswith("United States", at)]
    spans = tuple((start, start + 13) for start in starts)
    said = GroundedExtraction((GroundedEntity(name="United States", type="Location", spans=spans),))
    once = add_definitions(said, text)
    assert [one.short for one in once.definitions] == ["US"]
    assert add_definitions(once, text) == once
    assert add_definitions(once, "Nothing.").definitions == ()
