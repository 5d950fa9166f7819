"""Which documents share a prompt, and which part of the reply is whose."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.documents.extract.prompts import MOST_SHARED, SHARED_TOKENS, separate, share_prompts
from pgs_neo4j.model.documents import (
    Chunk,
    DocumentText,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
)
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.tokens import estimate


def chunk_of(text: str) -> Chunk:
    (chunk,) = chunk_document(DocumentText(text=text))
    return chunk


SMALL = chunk_of("A few words.")
LARGE = chunk_of("Many words stand here. " * 80)
HALF = chunk_of("Some words stand here. " * 40)
PASSAGES = [chunk_of("Ann sails. Bob rows."), chunk_of("Bob swims."), chunk_of("Cid waits.")]


def sizes(*chunks: Chunk) -> list[int]:
    return [len(group) for group in share_prompts(chunks, lambda chunk: chunk)]


def test_only_small_documents_share_a_prompt() -> None:
    assert sizes(SMALL, SMALL, LARGE, SMALL) == [1, 3]
    assert sizes(LARGE, LARGE) == [1, 1]
    for alone in (
        replace(SMALL, index=1), replace(SMALL, context="before"), replace(SMALL, path=("A",)),
    ):  # fmt: skip
        assert sizes(alone, alone) == [1, 1]
    assert sizes() == []


def test_a_shared_prompt_is_bounded_in_documents_and_tokens() -> None:
    assert sizes(*[SMALL] * (2 * MOST_SHARED + 1)) == [MOST_SHARED, MOST_SHARED, 1]
    fitting = SHARED_TOKENS // estimate(HALF.text)
    assert 1 < fitting < MOST_SHARED
    assert sizes(*[HALF] * (fitting + 1)) == [fitting, 1]


def entity(name: str, about: str, *sentences: int) -> ExtractedEntity:
    return ExtractedEntity(name=name, type="Person", description=about, sentences=sentences)


def test_a_description_of_several_passages_belongs_to_none() -> None:
    said = Extraction((entity("Bob", "He rows and swims.", 2, 3), entity("Ann", "Sails.", 1)))
    assert separate(said, PASSAGES[:1]) == [said]
    first, second, third = separate(said, PASSAGES)
    assert first.entities == (entity("Bob", "", 2), entity("Ann", "Sails.", 1))
    assert second.entities == (entity("Bob", "", 1),)
    assert third.entities == ()


def test_a_record_that_cites_nothing_belongs_where_its_names_stand() -> None:
    relation = ExtractedRelation(source="Ann", target="Bob", description="They sail.")
    said = Extraction((entity("Cid", "He waits."), entity("Bob", "He is.")), (relation,))
    first, second, third = separate(said, PASSAGES)
    assert [one.name for one in third.entities] == ["Cid"]
    assert third.entities[0].description == "He waits."
    assert [one.description for one in (*first.entities, *second.entities)] == ["", ""]
    assert (first.relations, second.relations, third.relations) == ((relation,), (), ())


def test_sentences_that_no_passage_has_count_as_none() -> None:
    said = Extraction((entity("Nobody", "Is not.", 77),), dropped={"fields": 2})
    parts = separate(said, PASSAGES)
    assert [one.entities for one in parts] == [(), (), ()]
    assert [dict(one.dropped) for one in parts] == [{"fields": 2}, {}, {}]


def test_a_relation_is_cited_in_the_numbers_of_its_passage() -> None:
    both = ExtractedRelation(source="Bob", target="Ann", description="They meet.", sentences=(3, 4))
    _, *parts = separate(Extraction((), (both,)), PASSAGES)
    cited = replace(both, description="", sentences=(1,))
    assert [one.relations for one in parts] == [(cited,), (cited,)]
