"""Keywords without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.keywords import MOST, extract_keywords


@pytest.mark.parametrize(
    ("question", "low", "high"),
    [
        (
            "Who supplies Chelsea F.C. and Real Madrid?",
            ("chelsea f.c", "real madrid"),
            ("supplies",),
        ),
        ("What is the Bank of England?", ("bank of england",), ("bank of england",)),
        ('How does "event loop" starvation arise?', ("event loop",), ("starvation", "arise")),
        ("What does RFC 2616 say about caching?", ("rfc 2616",), ("caching",)),
        ("what slows sleep and memory?", ("slows sleep",), ("slows", "sleep", "memory")),
        ("???", (), ()),
    ],
)
def test_names_are_low_and_themes_are_high(
    question: str, low: tuple[str, ...], high: tuple[str, ...]
) -> None:
    found = extract_keywords(question)
    assert (found.low, found.high) == (low, high)


@given(st.text(max_size=500))
def test_any_question_is_taken(question: str) -> None:
    found = extract_keywords(question)
    for kind in (found.low, found.high):
        assert len(kind) <= MOST
        assert len(set(kind)) == len(kind)
        assert all(word == word.strip() and word for word in kind)


def test_a_long_question_takes_no_time() -> None:
    assert extract_keywords("A " * 10_000).low == ()
    assert len(extract_keywords("Aa1 " * 5_000).low) <= MOST
