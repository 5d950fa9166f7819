"""Typing errors, and words that only look like one."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.variants.edits import is_typing_error


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
