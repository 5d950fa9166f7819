"""Cutting by characters and bytes at once."""

import pytest

from pgs_neo4j.text.prompt_text import MARGIN, chunks, cut


@pytest.mark.parametrize(
    ("text", "characters", "size", "result"),
    [
        ("one two three", 12, 99, "one two…"),
        ("one two three", 99, 11, "one two…"),
        ("語語語語", 4, 12, "語語語語"),
        ("語語語語", 4, 11, "語語…"),
        ("abc", 1, 9, "…"),
        ("abc", 0, 9, ""),
        ("abc", 2, 2, ""),
        ("", 0, 0, ""),
    ],
)
def test_a_cut_text_is_within_both_bounds(text, characters, size, result):
    assert cut(text, characters, size) == result
    assert len(result) <= characters
    assert len(result.encode()) <= size


@pytest.mark.parametrize(
    "text", ["a b " * 300, "語 " * 300, "x" * 700 + "語" * 700, "a\n\nb\n" * 90, "\n" * 300]
)
def test_chunks_hold_everything_within_both_bounds(text):
    made = list(chunks(text, (100, 150)))
    assert "".join(made) == text
    for chunk in made:
        lines = chunk.splitlines()
        assert len("".join(lines)) + MARGIN * len(lines) <= 100
        assert len("".join(lines).encode()) + MARGIN * len(lines) <= 150
