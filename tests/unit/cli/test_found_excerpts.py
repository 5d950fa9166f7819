"""The part of a text that a search shows: the sentence that matches, in whole words."""

from __future__ import annotations

import pytest

from pgs_neo4j.cli.pages.found_page import excerpt

TEXT = (
    "The town was founded early. Its market is large and old. "
    "The lighthouse warns ships of rocks with a strong white light. Boats are built there."
)


def test_the_sentence_that_matches_is_shown() -> None:
    shown = excerpt(TEXT, "What do lighthouses warn of?", 60)
    assert shown.startswith("… The lighthouse warns ships")
    assert shown.endswith("…")
    assert len(shown) <= 60


@pytest.mark.parametrize("room", range(30, len(TEXT) + 2))
def test_no_word_is_cut(room: int) -> None:
    for question in ("lighthouse", "market", "nothing of it", ""):
        shown = excerpt(TEXT, question, room)
        assert len(shown) <= room
        assert set(shown.strip("… ").split()) <= set(TEXT.split())


def test_a_text_without_blanks_is_cut_all_the_same() -> None:
    assert excerpt("x" * 500, "x", 40) == "x" * 39 + "…"
    assert excerpt("short", "x", 40) == "short"
    assert excerpt("", "x", 40) == ""
