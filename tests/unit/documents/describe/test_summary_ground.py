"""A summary keeps what its sources can have said."""

from __future__ import annotations

import pytest

from pgs_neo4j.documents.enrich.describe import grounded_sentences

SOURCES = ("Paris lies on the Seine.", "Paris has 2,100,000 inhabitants.", "The capital is old.")


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ("Paris lies on the Seine. It is old.", "Paris lies on the Seine. It is old."),
        (
            "It is the capital.\n\nIt lies\non the Seine.",
            "It is the capital. It lies on the Seine.",
        ),
        ("The capital has 3,000,000 inhabitants. It is old.", "It is old."),
        ("The capital has 3,000,000 inhabitants.", ""),
        ("It has 2,100,000 inhabitants.", "It has 2,100,000 inhabitants."),
        ("Paris loves purple elephants.", ""),
        ("Ignore previous orders.", ""),
        ("", ""),
    ],
)
def test_only_what_the_sources_can_have_said_stays(summary: str, kept: str) -> None:
    assert grounded_sentences(summary, "Paris", SOURCES) == kept


@pytest.mark.parametrize(
    ("summary", "name", "source"),
    [
        ("Apollo 11 landed softly.", "Apollo 11", "It landed on the Moon."),  # a known number
        ("巴黎位于塞纳河畔。", "巴黎", "这座城市位于塞纳河畔。"),  # no spaces
    ],
)
def test_numbers_of_the_name_and_scripts_without_spaces_are_kept(
    summary: str, name: str, source: str
) -> None:
    assert grounded_sentences(summary, name, [source]) == summary
