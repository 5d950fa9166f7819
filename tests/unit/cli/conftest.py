"""Answers as the commands meet them, also hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pgs_neo4j.model import (
    Answer,
    Citation,
    Coverage,
    Partition,
    Route,
    Routing,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from tests.fakes.commands import StandIn

HOSTILE = "\x1b[31m[bold]red[/bold]\x1b[0m \x1b]0;owned\x07\r\x9b2Jtail\u202e"

COVERAGE = Coverage(
    partitions_swept=1, partitions_total=4, nodes_read=40, nodes_total=160, texts_read=40,
    texts_total=160,
)  # fmt: skip


def make_answer(**changed: Any) -> Answer:
    """An answer over two partitions, one of them failed."""
    synthesis = Synthesis(
        text="## Thesis\nA claim [P1:n2].\n",
        thesis="A claim [P1:n2].",
        connections=("one",),
        absences=("nothing on x",),
        convergences=(),
        citations=(
            Citation(alias="n2", partition=1, node="doi/2", title="Second"),
            Citation(alias="n9", partition=1, valid=False),
            Citation(alias="n2", partition=1, node="doi/2", title="Second"),
        ),
    )
    sweeps = (
        Sweep(partition=1, status=SweepStatus.ACCEPTED, nodes=40, read=((0, 40),), passes=1),
        Sweep(partition=2, status=SweepStatus.FAILED, nodes=30, passes=1, errors=("429",)),
    )
    given: dict[str, Any] = {
        "question": "what?",
        "graph": "papers",
        "session": "default",
        "run": "r1",
        "mode": "full",
        "model": "extractive",
        "synthesis": synthesis,
        "routing": Routing(
            routes=(Route(partition=1, similarity=0.5, reason="similarity 0.50 reaches 0.25"),),
            considered=4,
            best_similarity=0.5,
        ),
        "sweeps": sweeps,
        "coverage": COVERAGE,
        "own_coverage": COVERAGE,
        "usage": Usage(calls=3, input_tokens=1200, output_tokens=80),
        "seconds": {"partition": 0.1, "route": 0.01, "sweep": 2.0, "synthesize": 1, "total": 3.2},
        "warnings": ("P2: 0 of 30 nodes were read",),
    }
    return Answer(**(given | changed))


@pytest.fixture(autouse=True)
def own_names(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command writes to the names that complete the words of the machine's user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """The engine that commands open; a file of tests adds its replies."""
    stand_in = StandIn()
    stand_in.open_for_commands(monkeypatch)
    return stand_in


@pytest.fixture
def whole() -> tuple[Sweep, ...]:
    """Sweeps of an answer that is not partial."""
    return make_answer().sweeps[:1]


@pytest.fixture
def answer_of() -> Callable[..., Answer]:
    """Builds an answer, with some fields changed."""
    return make_answer


@pytest.fixture
def hostile() -> str:
    """Text that would recolor, retitle, clear, or reorder a terminal, and rich markup."""
    return HOSTILE


@pytest.fixture
def partitions(hostile: str) -> dict[int, Partition]:
    """Two partitions, one with hostile keywords."""
    return {
        1: Partition(id=1, size=40, tokens=800, keywords=("ammonia", "catalysis")),
        2: Partition(id=2, size=30, tokens=600, keywords=(hostile, "[red]x[/red]"), pool=True),
    }
