"""Columns of tables: words stay whole, and everything fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pgs_neo4j.cli.pages.tables import column_widths, wrap_cell


def test_what_fits_is_left_as_it_is() -> None:
    assert column_widths([["id", "P1"], ["a longer text"]], 80) == [2, 13]


def test_short_cells_stay_on_one_line() -> None:
    cells = [["r69169ec4e648"], ["2026-01-02 03:04"], ["a question of many words " * 8]]
    assert column_widths(cells, 76) == [13, 16, 47]


def test_whole_words_come_before_long_texts() -> None:
    cells = [["partition_relevance_threshold"], ["a meaning of some words " * 4]]
    assert column_widths(cells, 60) == [29, 31]


def test_a_name_is_broken_after_its_marks_only_if_it_must() -> None:
    assert wrap_cell("xml.dom.expatbuilder.ExpatBuilder", 16) == (
        "xml.dom.\nexpatbuilder.\nExpatBuilder"
    )
    assert wrap_cell("see datetime.date", 14) == "see\ndatetime.date"
    assert wrap_cell("P4 (92), P12 (28)", 12) == "P4 (92), P12\n(28)"
    assert wrap_cell("", 5) == ""


def test_a_word_that_is_too_long_is_cut() -> None:
    assert wrap_cell("abcdefgh", 3) == "abc\ndef\ngh"


WORDS = st.text("abc._/é漢字", max_size=12)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6), st.integers(20, 90)
)
def test_all_columns_fit_and_no_character_is_lost(cells: list[list[str]], room: int) -> None:
    widths = column_widths(cells, room)
    assert len(widths) == len(cells)
    assert sum(widths) <= max(room, len(cells))
    assert min(widths) >= 1
    for texts, width in zip(cells, widths, strict=True):
        for text in texts:
            lines = wrap_cell(text, width)
            assert "".join(lines.split()) == "".join(text.split())
            assert all(cell_len(line) <= max(width, 2) for line in lines.splitlines())
