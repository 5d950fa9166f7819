"""Typing errors, and words that only look like one."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.variants.edits import is_typing_error


@pytest.mark.parametrize(
    ("one", "other", "person"),
    [
        ("WACHOWSKI", "WACHOSWKI", True),
        ("ORGANIZATION", "ORGANI" + "SATION", False),
        ("ORGANIZATION", "ORGNIZATION", False),
        ("COMMITTEE", "COMITTEE", False),
        ("DIJKSTRA", "DJIKSTRA", True),
        ("ROBERTSON", "ROBBERTSON", True),
        ("JOHNSON", "JOHQNSON", True),
        ("CASTELLANO", "CASTELLLANO", True),
        ("INTERNATIONAL", "INTERNATONAL", False),
    ],
)
def test_typing_errors(one: str, other: str, person: bool) -> None:
    assert is_typing_error(one, other, person=person)
    assert is_typing_error(other, one, person=person)


@pytest.mark.parametrize(
    ("one", "other", "person"),
    [
        ("JOHNSON", "JOHNSTON", True),
        ("PHILIPS", "PHILLIPS", True),
        ("WALKER", "WALTER", True),
        ("JULIAN", "JULIANA", True),
        ("FRANCIS", "FRANCES", True),
        ("MARTIAL", "MARITAL", False),
        ("STIMULATION", "SIMULATION", False),
        ("REVOLUTION", "RESOLUTION", False),
        ("EXPORT", "IMPORT", False),
        ("COLLISION", "COLLUSION", False),
        ("WORD", "WRD", False),
        ("SAME", "SAME", False),
        ("ORGANIZATION", "ORGANIZATIONAL", False),
        ("VERSION12", "VERSION21", False),
        ("ВЕРСИЯМИ", "ВЕСРИЯМИ", False),
        ("CONSERVATION", "CONVERSATION", False),
    ],
)
def test_words_that_differ(one: str, other: str, person: bool) -> None:
    assert not is_typing_error(one, other, person=person)
    assert not is_typing_error(other, one, person=person)
