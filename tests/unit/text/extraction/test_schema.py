from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction, GroundedRelation
from pgs_neo4j.text.extraction.schema import (
    LONGEST_LABEL,
    MOST_TYPES,
    OTHER,
    EntitySchema,
    label_name,
    prune,
    read_schema,
    relation_name,
)

FILE: dict[str, Any] = {
    "types": {"Person": "a human", "Research Paper": "an article"},
    "relations": {"wrote": "is an author of", "cites": ""},
    "patterns": [
        ["person", "WROTE", "ResearchPaper"],
        ["Research Paper", "cites", "ResearchPaper"],
    ],
    "mode": "strict",
}


def entity(name: str, type_: str) -> GroundedEntity:
    return GroundedEntity(name=name, type=type_, spans=((0, 1),), sentences=(1,))


def relation(source: GroundedEntity, type_: str, target: GroundedEntity, *keywords: str):
    return GroundedRelation(
        source=source.name,
        source_type=source.type,
        target=target.name,
        target_type=target.type,
        type=type_,
        fact="so it is",
        keywords=keywords,
        sentences=(1,),
    )


ADA, PAPER, CITY = (
    entity("Ada", "person"),
    entity("Notes", "research_paper"),
    entity("Rome", "City"),
)


def test_a_file_is_read() -> None:
    schema = read_schema(FILE)
    assert list(schema.types) == ["Person", "ResearchPaper"]
    assert schema.relations == {"WROTE": "is an author of", "CITES": ""}
    assert schema.patterns[0] == ("Person", "WROTE", "ResearchPaper")
    assert schema.mode == "strict"


def test_what_a_file_leaves_out_has_a_default() -> None:
    assert read_schema({}) == EntitySchema()
    assert read_schema({"types": ["Gene"]}).types == {"Gene": ""}
    only = read_schema({"patterns": [["Person", "knows", "Person"]]})
    assert only.relations == {"KNOWS": ""}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"type": []}, "'type' is not one of"),
        ({"mode": "lax"}, "'strict' or 'open'"),
        ({"types": "Person"}, "types must be a list"),
        ({"types": ["?!"]}, "cannot be used as a name"),
        ({"types": ["PgsRun"]}, "cannot be used as a name"),
        ({"types": ["Chunk"]}, "cannot be used as a name"),
        ({"types": ["person", "Person"]}, "two names mean 'Person'"),
        ({"types": [f"T{n}" for n in range(MOST_TYPES + 1)]}, "at most 64"),
        ({"patterns": {}}, "patterns must be a list"),
        ({"patterns": [["Person", "knows"]]}, "must be [source type, relation, target type]"),
        ({"patterns": [["Person", "knows", "Gene"]]}, "'Gene' is not in the schema"),
        ({"relations": ["a"], "patterns": [["Person", "b", "Person"]]}, "'B' is not in the schema"),
        ({"patterns": [["Person", "...", "Person"]]}, "has a name that cannot be used"),
    ],
)
def test_faults_of_a_file_are_named(data: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_schema(data)
    assert words in str(raised.value)


def test_the_signature_is_of_everything() -> None:
    schemas = [EntitySchema(), read_schema(FILE), read_schema({**FILE, "mode": "open"})]
    schemas.append(read_schema({**FILE, "patterns": FILE["patterns"][:1]}))
    schemas.append(read_schema({**FILE, "relations": ["wrote", "cites"]}))
    assert len({schema.signature for schema in schemas}) == len(schemas)
    assert EntitySchema().signature == EntitySchema().signature


# Pruning


def test_a_strict_schema_drops_and_counts_the_rest() -> None:
    extraction = GroundedExtraction(
        (ADA, PAPER, CITY),
        (
            relation(ADA, "WROTE", PAPER),
            relation(ADA, "PENNED", PAPER, "penned", "wrote"),
            relation(PAPER, "WROTE", ADA),
            relation(ADA, "LIKES", PAPER),
            relation(ADA, "LIVES_IN", CITY),
        ),
        {"not in the text": 2},
    )
    pruned = prune(extraction, read_schema(FILE))
    assert [one.type for one in pruned.entities] == ["Person", "ResearchPaper"]
    (wrote,) = pruned.relations
    ends = wrote.source_type, wrote.target_type
    assert (wrote.type, ends) == ("WROTE", ("Person", "ResearchPaper"))
    lost = dict.fromkeys(("type", "pattern", "relation", "end"), 1)
    assert pruned.dropped == {"not in the text": 2} | lost


@pytest.mark.parametrize(
    ("type_", "kept"),
    [("person", "Person"), ("GEO", "Location"), ("star sign", "StarSign"), ("City", "City"),
     ("Chunk", OTHER), ("??", OTHER)],
)  # fmt: skip
def test_an_open_schema_renames_types_and_lets_others_in(type_: str, kept: str) -> None:
    one = entity("x", type_)
    said = GroundedExtraction((one, ADA), (relation(ADA, "lives in", one),))
    pruned = prune(said, read_schema({**FILE, "mode": "open"} if kept == "City" else {}))
    assert [one.type for one in pruned.entities] == [kept, "Person"]
    assert [one.type for one in pruned.relations] == ["LIVES_IN"]
    assert pruned.dropped == {}


def test_two_types_that_mean_one_are_one_entity() -> None:
    extraction = GroundedExtraction(
        (entity("Rome", "City"), entity("Rome", "Place"), ADA),
        (relation(ADA, "IN", entity("Rome", "City")), relation(ADA, "IN", entity("Rome", "Place"))),
    )
    pruned = prune(extraction, EntitySchema())
    assert [one.name for one in pruned.entities] == ["Rome", "Ada"]
    assert len(pruned.relations) == 1


# Names


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("PERSON", "Person"),
        ("research paper", "ResearchPaper"),
        ("ResearchPaper", "ResearchPaper"),
        ("NASA", "NASA"),
        ("Straße", "Straße"),
        ("a`b) DETACH DELETE n //", "ABDETACHDELETEN"),
        ("x" * 300, "X" + "x" * (LONGEST_LABEL - 1)),
        ("", None),
        ("`", None),
        ("PgsRun", None),
        ("Document", None),
        ("Loaded Node", None),
    ],
)
def test_labels_are_plain_words(text: str, label: str | None) -> None:
    assert label_name(text) == label


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("works for", "WORKS_FOR"),
        ("worksFor", "WORKS_FOR"),
        (" is-a ", "IS_A"),
        ("straße ǰaa", "STRASSE_ǰAA"),
        ("x" * 300, "X" * LONGEST_LABEL),
        ("12", None),
        ("", None),
    ],
)
def test_relations_have_names_in_capitals(text: str, name: str | None) -> None:
    assert relation_name(text) == name


@given(st.text(max_size=100))
def test_any_text_makes_a_safe_name_or_none(text: str) -> None:
    for name in (label_name(text), relation_name(text)):
        if name is not None:
            assert 0 < len(name) <= 3 * LONGEST_LABEL
            assert "`" not in name
            assert "\\" not in name
            assert all(letter.isalnum() or letter == "_" or ord(letter) > 127 for letter in name)
    label = label_name(text)
    assert label is None or (label_name(label) or "").lower() == label.lower()


@pytest.mark.parametrize("letter", ["ǰ", "ΐ", "ẖ", "ŉ", "ﬃ", "ß"])
def test_a_letter_without_a_single_capital_keeps_a_name_what_it_is(letter: str) -> None:
    label = label_name(f"A {letter}b")
    assert label is not None
    assert (label_name(label) or "").lower() == label.lower()


WIDE = EntitySchema(types={"A": "a", "B": "b"}, relations={"KNOWS": "", "OWNS": ""})
STRICT = replace(WIDE, mode="strict")


@pytest.mark.parametrize(
    ("schema", "other", "covered"),
    [
        (WIDE, WIDE, True),
        (WIDE, replace(WIDE, relations={"OWNS": ""}), True),
        (WIDE, replace(WIDE, patterns=(("A", "OWNS", "B"),)), True),
        (WIDE, replace(STRICT, types={"B": "b"}, relations={"OWNS": ""}), True),
        (WIDE, replace(WIDE, types={"A": "a", "C": ""}), False),
        (WIDE, replace(WIDE, types={"A": "something else"}), False),
        (WIDE, replace(WIDE, relations={"KNOWS": "", "SELLS": ""}), False),
        (STRICT, WIDE, False),
        (STRICT, replace(STRICT, relations={}), False),
        (replace(STRICT, relations={}), STRICT, True),
    ],
)
def test_replies_under_a_schema_have_what_a_narrower_one_allows(
    schema: EntitySchema, other: EntitySchema, covered: bool
) -> None:
    assert schema.covers(other) is covered


def test_a_schema_is_read_back_from_its_data_with_the_same_signature() -> None:
    schema = read_schema(FILE)
    assert read_schema(schema.as_data()) == schema
    assert read_schema(schema.as_data()).signature == schema.signature
    assert schema.told.signature != schema.signature
    assert replace(schema, patterns=()).told == schema.told
