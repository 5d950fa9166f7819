"""The quality report fits a screen and says what it knows."""

from __future__ import annotations

import sys
from dataclasses import replace
from io import StringIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.cli.pages import partitions_page as page
from pgs_neo4j.cli.pages.partitions_page import Bin
from pgs_neo4j.export.generation_rows import quantiles
from pgs_neo4j.model import Generation
from tests.fakes.commands import generation
from tests.thorough import tries

MADE = generation()


def told(made: Generation, width: int = 80, *, blocks: bool = True) -> dict[str, str]:
    """The rows above the histogram by their labels."""
    lines = page.report(made, width, blocks=blocks)
    rows: dict[str, str] = {}
    label = ""
    for line in lines[: lines.index("")]:
        label = line[: page.COLUMN].strip() or label
        rows[label] = f"{rows.get(label, '')} {line[page.COLUMN :]}".strip()
    return rows


def test_the_report_says_every_figure_and_a_plain_generation_is_plain() -> None:
    assert told(MADE) == {
        "graph": "papers, generation g2",
        "made": "2026-07-01 03:17:04 UTC, grown from the previous generation by leiden-louvain",
        "holds": "2,000 nodes, 9,000 relationships",
        "partitions": "5, 1 pool of 50 nodes that no relationship places",
        "sizes": "50 to 900 nodes, median 300, quartiles 150 and 600",
        "largest": "45 % of the nodes",
        "limits": "2 too large and split, 1,200 too small and merged",
        "modularity": "0.712, 0.730 before the limits",
        "conductance": "0.0525 on average",
        "hierarchy": "4 units above the partitions, then 1 unit",
        "took": "2 min 12 s: scan 1.5 s, communities 2 min 10 s, clean up 0.0 s",
        "noticed": "12 isolated nodes, 1,500 self-loops",
    }
    made = replace(
        MADE, origin="cold", pooled_nodes=0, pools=0, split=0, merged=0, levels=(), issues={}
    )
    rows = told(made)
    assert rows["made"].endswith("from scratch by leiden-louvain")
    assert rows["partitions"] == "5, no pool"
    assert rows["limits"] == "every community was within them"
    assert rows["hierarchy"] == "none above the partitions"
    assert "noticed" not in rows
    torn = {"parallel_relationships": 1, "nodes_without_text": 1, "partitions_in_pieces": 2}
    assert told(replace(made, issues=torn))["noticed"] == (
        "1 parallel relationship, 1 node without text, 2 partitions in pieces"
    )
    assert told(replace(made, origin="refreshed"))["made"].endswith("refreshed where texts changed")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("blocks", [True, False])
def test_the_report_fits_a_screen_and_is_text(width: int, blocks: bool, hostile: str) -> None:
    lines = page.report(MADE, width, blocks=blocks)
    assert all(len(line) <= max(width, page.COLUMN + 30) for line in lines)
    assert len(lines) <= 24 or width == 40
    assert any("█" in line for line in lines) is blocks
    assert any("#" in line for line in lines) is not blocks
    assert "\x1b" not in "".join(page.report(replace(MADE, graph=hostile), width, blocks=blocks))


def test_bins_are_round_without_a_gap_and_bars_in_proportion() -> None:
    assert page.histogram((900, 600, 300, 150, 50)) == (
        Bin(50, 99, 1), Bin(100, 199, 1), Bin(200, 499, 1), Bin(500, 999, 2),
    )  # fmt: skip
    assert page.histogram((1, 10)) == (Bin(1, 1, 1), Bin(2, 4, 0), Bin(5, 9, 0), Bin(10, 19, 1))
    assert page.histogram(()) == ()
    assert quantiles(replace(MADE, sizes=())) == (0.0,) * 5
    bins = (Bin(20, 49, 1), Bin(50, 99, 0), Bin(100, 199, 2_000), Bin(200, 499, 1_000))
    assert page.bars(bins, 80, blocks=False) == [
        "     nodes  partitions",
        "  20 to 49           1  #",
        "  50 to 99           0",
        "100 to 199       2,000  " + "#" * 40,
        "200 to 499       1,000  " + "#" * 20,
    ]
    assert [line[24:] for line in page.bars(bins, 80, blocks=True)[1:]] == [
        "▏", "", "█" * 40, "█" * 20,
    ]  # fmt: skip
    assert page.bar(0.5, 3, blocks=True) == "█▌"


@settings(max_examples=tries(25, 100))
@given(st.lists(st.integers(1, 10**7), min_size=1, max_size=50))
def test_bins_hold_every_partition_once(sizes: list[int]) -> None:
    bins = page.histogram(sizes)
    assert sum(each.partitions for each in bins) == len(sizes)
    assert bins[0].first <= min(sizes) <= bins[0].last
    assert bins[-1].first <= max(sizes) <= bins[-1].last
    assert all(low.last + 1 == high.first for low, high in pairwise(bins))
    for each in bins:
        assert each.partitions == sum(each.first <= size <= each.last for size in sizes)


@pytest.mark.parametrize(
    ("terminal", "encoding", "able"),
    [(True, "utf-8", True), (True, "ascii", False), (False, "utf-8", False)],
)
def test_blocks_are_for_terminals_that_have_them(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, encoding: str, able: bool
) -> None:
    class Stream(StringIO):
        def isatty(self) -> bool:
            return terminal

    stream = Stream()
    monkeypatch.setattr(Stream, "encoding", encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("TERM", "xterm")
    assert page.can_show_blocks() is able
    monkeypatch.setenv("TERM", "dumb")
    assert not page.can_show_blocks()
