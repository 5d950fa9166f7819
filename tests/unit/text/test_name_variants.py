"""Whether one name is a variant of another, and the blocks by which it is found."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_variants import (
    BLOCKS,
    PresentName,
    blocks_of,
    is_typing_error,
    present_name,
    variant_kind,
)


def present(name: str, kind: str = "Organization", *, sure: bool = True) -> PresentName:
    return present_name(normalize_name(name), kind, [name], sure=sure)


@pytest.mark.parametrize(
    ("one", "other", "kind", "variant"),
    [
        ("WHO", "World Health Organization", "Organization", "acronym"),
        ("IBM", "International Business Machines Corp.", "Organization", "acronym"),
        ("ISAM", "indexed sequential access method", "Method", "acronym"),
        ("J. Smith", "John Smith", "Person", "initials"),
        ("Smith, J. R.", "John Ronald Smith", "Person", "initials"),
        ("J.R. Smith", "J R Smith", "Person", "spelling"),
        ("Acme Inc.", "Acme", "Organization", "company form"),
        ("World Health Orgnization", "World Health Organization", "Organization", "typing error"),
        ("re-cover", "recover", "Concept", None),
        ("CNN", "convolutional neural network", "Concept", None),
        ("who", "World Health Organization", "Organization", None),
        ("JFK", "John Fitzgerald Kennedy", "Person", None),
        ("marital conditions", "martial conditions", "Concept", None),
    ],
)
def test_kind_of_variant(one: str, other: str, kind: str, variant: str | None) -> None:
    first, second = present(one, kind), present(other, kind)
    assert variant_kind(first, second) == variant_kind(second, first) == variant
    if variant:
        pairs = zip(blocks_of(first), blocks_of(second), strict=True)
        assert any(a is not None and a == b for a, b in pairs)


@pytest.mark.parametrize(
    ("one", "other", "variant"),
    [
        ("machine-learning", "machine learning", "spelling"),
        ("co-author", "coauthor", None),
        ("resume", "résumé", None),
    ],
)
def test_words_by_statistics_vary_in_hyphens_only(
    one: str, other: str, variant: str | None
) -> None:
    kind = variant_kind(present(one, sure=False), present(other))
    assert kind == variant


def test_names_of_two_types_are_two() -> None:
    assert variant_kind(present("W.H.O."), present("WHO", "Person")) is None


def test_what_spellings_tell() -> None:
    name = present_name("WHO", "Organization", ["WHO", "Who"], sure=True)
    assert (name.capitals, name.proper) == (False, False)
    assert present_name(
        "WORLD_BANK", "Organization", ["world bank", "World Bank"], sure=True
    ).proper
    assert not present_name("WORLD_BANK", "Organization", ["WORLD BANK"], sure=True).proper
    assert not present_name("A", "Organization", [], sure=True).capitals


def test_blocks_are_few_and_of_the_type() -> None:
    name = present("Smith, John", "Person")
    blocks = blocks_of(name)
    assert blocks[0] == "Person:JOHNSMITH"
    assert blocks[-1] == "Person:J SMITH"
    assert len(blocks) == BLOCKS
    assert blocks_of(present("machine learning", sure=False))[1:] == (None,) * (BLOCKS - 1)


@pytest.mark.parametrize(
    ("one", "other", "person", "error"),
    [
        ("WACHOWSKI", "WACHOSWKI", True, True),
        ("ORGANIZATION", "ORGANI" + "SATION", False, True),
        ("ORGANIZATION", "ORGNIZATION", False, True),
        ("COMMITTEE", "COMITTEE", False, True),
        ("JOHNSON", "JOHQNSON", True, True),
        ("JULIAN", "JULIANA", True, False),
        ("COLLISION", "COLLUSION", False, False),
        ("ROBERTSON", "ROBBERTSON", True, True),
        ("CASTELLANO", "CASTELLLANO", True, True),
        ("JOHNSON", "JOHNSTON", True, False),
        ("PHILIPS", "PHILLIPS", True, False),
        ("WALKER", "WALTER", True, False),
        ("FRANCIS", "FRANCES", True, False),
        ("MARTIAL", "MARITAL", False, False),
        ("STIMULATION", "SIMULATION", False, False),
        ("EXPORT", "IMPORT", False, False),
        ("WORD", "WRD", False, False),
        ("SAME", "SAME", False, False),
        ("ORGANIZATION", "ORGANIZATIONAL", False, False),
        ("VERSION12", "VERSION21", False, False),
        ("ВЕРСИЯМИ", "ВЕСРИЯМИ", False, False),
        ("CONSERVATION", "CONVERSATION", False, False),
    ],
)
def test_one_wrong_letter_is_a_typing_error_unless_it_makes_another_word(
    one: str, other: str, person: bool, error: bool
) -> None:
    assert is_typing_error(one, other, person=person) is error
    assert is_typing_error(other, one, person=person) is error
