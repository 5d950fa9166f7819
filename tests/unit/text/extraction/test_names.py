from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.extraction.names import (
    LONGEST,
    clean_name,
    entity_key,
    name_fault,
    normalize_name,
)

NAMES = st.text(max_size=40)


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        ("John Doe", "JOHN_DOE"),
        ("the company", "COMPANY"),
        ("an apple", "APPLE"),
        ("John's team", "JOHN_TEAM"),
        ("John\u2019s team", "JOHN_TEAM"),
        ("James' team", "JAMES'_TEAM"),
        ("The", "THE"),
        ("Theater", "THEATER"),
        ("C++", "C++"),
        (".NET", ".NET"),
        ("Jean-Luc", "JEAN-LUC"),
        ('"Quoted"', "QUOTED"),
        ("**Bold**", "BOLD"),
        ("Name,", "NAME"),
        ("\uff2a\uff4f\uff48\uff4e", "JOHN"),
        ("Stra\u00dfe", "STRASSE"),
        ("E\u0301lan", "\u00c9LAN"),
        ("Pa\u200bris", "PARIS"),
        ("\ufb01nance", "FINANCE"),
        ("北京 大学", "北京_大学"),
        ("", ""),
        ("''", ""),
    ],
)
def test_spellings_of_a_name(name: str, normalized: str) -> None:
    assert normalize_name(name) == normalized


@given(NAMES)
def test_case_width_and_blanks_do_not_matter_and_a_normalized_name_stays(name: str) -> None:
    wide = unicodedata.normalize("NFKC", name)
    assert normalize_name(f"  {clean_name(name)}\n") == normalize_name(name)
    assert normalize_name(wide.casefold()) == normalize_name(wide)
    once = normalize_name(name)
    assert normalize_name(once) == once
    assert not any(map(str.isspace, once))
    assert name_fault(name) or (once and 0 < len(clean_name(name)) <= LONGEST)


def test_a_key_keeps_types_apart() -> None:
    assert entity_key("Paris", "Person") != entity_key("Paris", "Location")
    assert entity_key("the Paris", "location") == entity_key("PARIS", "Location")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("AI", None),
        ("京", None),
        ("Them!", None),
        ("", "no name"),
        ("x", "no name"),
        ("\u200b", "no name"),
        ("She", "pronoun"),
        ("“they”", "pronoun"),
        ("thing", "generic"),
        ("Not specified", "generic"),
        ("the entity", "generic"),
        ("x" * (LONGEST + 1), "too long"),
    ],
)
def test_some_texts_are_no_names(name: str, fault: str | None) -> None:
    assert name_fault(name) == fault


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("Ada\u202e", "Ada"),
        ("_Ada_", "Ada"),
        ("O'Brien", "O'Brien"),
        ("the Ada", "the Ada"),
    ],
)
def test_a_shown_name_keeps_its_spelling(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned
