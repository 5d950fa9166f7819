from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.extraction.fields import (
    LONGEST_DESCRIPTION,
    MOST_KEYWORDS,
    make_entity,
    make_relation,
    one_line,
    read_keywords,
    read_numbers,
    read_weight,
)


@pytest.mark.parametrize(
    ("field", "numbers"),
    [
        ("5-3", (3, 5)),
        ("1, 2; 4", (1, 2, 4)),
        ("2-4", (2, 3, 4)),
        ("2 to 4", (2, 3, 4)),
        ("S2-S3", (2, 3)),
        ("Sentence 7", (7,)),
        ("0", ()),
        ("None", ()),
        ("1.", (1,)),
        ("0.8", None),
        ("1,", None),
        ("1 woman", None),
        ("12345678", None),
    ],
)
def test_numbers_of_sentences(field: str, numbers: tuple[int, ...] | None) -> None:
    assert read_numbers(field) == numbers


@given(st.text(max_size=40))
def test_any_field_has_numbers_or_none(field: str) -> None:
    numbers = read_numbers(field)
    assert numbers is None or (list(numbers) == sorted(set(numbers)) and len(numbers) < 300)


@pytest.mark.parametrize(
    ("field", "weight"),
    [
        ("0.8", 0.8),
        (" 1.0 ", 1.0),
        ("-1", None),
        ("1e9", None),
        ("", None),
    ],
)
def test_weights(field: str, weight: float | None) -> None:
    assert read_weight(field) == weight


def test_keywords_are_distinct_and_few() -> None:
    assert read_keywords("works for, job; works for| ,") == ("works for", "job")
    assert len(read_keywords(",".join(map(str, range(100))))) == MOST_KEYWORDS


def test_descriptions_are_one_line() -> None:
    assert one_line(' "A\n  text\u202e" ') == "A text"
    assert len(one_line("x" * 99_999)) == LONGEST_DESCRIPTION


def test_values_without_a_name_are_refused() -> None:
    assert make_entity("it", "Thing", "x") is None
    assert make_relation(("Ada", "Ada"), "", "") is None
    assert make_relation(("Ada", "?"), "", "") is None
    relation = make_relation(("Ada", "Bob"), "", "", weight=float("nan"))
    assert relation is not None
    assert relation.weight == 1.0
