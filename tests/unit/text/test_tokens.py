from __future__ import annotations

import pytest

from pgs_neo4j.text.tokens import estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcdefg", 2), ("abcdefgh", 3), ("üü", 2), ("\ud800", 1)],
)
def test_estimate_is_bytes_over_three_and_a_half_rounded_up(text: str, tokens: int) -> None:
    assert estimate(text) == tokens
