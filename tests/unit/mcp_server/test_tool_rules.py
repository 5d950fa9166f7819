"""Replies stay within their tokens, and nothing is lost between two pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pgs_neo4j.events import (
    CallsHeld,
    PassFinished,
    PhaseStarted,
    Progressed,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
)
from pgs_neo4j.mcp_server.questions import Advance
from pgs_neo4j.mcp_server.tool_rules import cut_text, fit_items
from pgs_neo4j.model import Route, Routing, Sweep, SweepStatus
from pgs_neo4j.text.tokens import estimate


class Item(BaseModel):
    text: str


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(1, 20))
def test_the_pieces_of_a_text_are_the_text(text: str, tokens: int) -> None:
    pieces, offset = [], 0
    while True:
        piece, following = cut_text(text, offset, tokens)
        pieces.append(piece)
        assert estimate(piece) <= max(tokens, 2)
        if following is None:
            break
        assert following > offset
        offset = following
    assert "".join(pieces) == text


def test_a_piece_ends_with_a_line_or_a_word() -> None:
    assert cut_text("one two three\nfour five", 0, 5) == ("one two three\n", 14)
    assert cut_text("one two three four", 0, 3) == ("one two ", 8)
    assert cut_text("short", 99, 3) == ("", None)


@pytest.mark.parametrize(("tokens", "count"), [(0, 1), (9, 1), (1000, 3)])
def test_items_fit_but_one_is_always_shown(tokens: int, count: int) -> None:
    items = [Item(text="x" * 20) for _ in range(3)]
    assert fit_items(items, tokens) == items[:count]
    assert fit_items([], tokens) == []


def sweep(partition: int) -> SweepFinished:
    return SweepFinished(Sweep(partition=partition, status=SweepStatus.ACCEPTED, nodes=3))


def test_progress_grows_with_every_event_and_counts_partitions() -> None:
    routing = Routing(routes=(Route(partition=1, similarity=None, reason=""),), considered=4)
    advance, values = Advance(), [-1.0]
    events = (
        PhaseStarted("partition"), StepStarted("partition", "communities"),
        Progressed("partition", 5, 10, "nodes"), Progressed("partition", 5, 0, "nodes"),
        RunStarted("r1", resumed=False), Routed(routing), CallsHeld("the endpoint is busy", 12.0),
        sweep(1), sweep(2), PhaseStarted("synthesize"),
    )  # fmt: skip
    lines = []
    for event in events:
        advance.hear(event)
        assert advance.value > values[-1]
        values.append(advance.value)
        lines.append(advance.line)
    assert lines[1:4] == [
        "partitioning the graph: communities", "5 of 10 nodes", "5 nodes",
    ]  # fmt: skip
    assert lines[4:8] == [
        "run r1 began", "1 partition to read", "waiting 12 s: the endpoint is busy",
        "P1 accepted; 1 of 1 read",
    ]  # fmt: skip
    assert (advance.run, advance.total, advance.line) == ("r1", 3.0, "writing the answer")


def test_what_says_nothing_new_is_no_progress() -> None:
    advance = Advance()
    advance.hear(PassFinished(1, 1, 2, None))
    assert (advance.number, advance.value, advance.total) == (0, 0.0, None)
