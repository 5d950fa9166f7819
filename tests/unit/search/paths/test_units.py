"""Partitions by the evidence of their texts, and the units above them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import FoundUnit, Partition
from pgs_neo4j.search.nodes import Place
from pgs_neo4j.search.paths import units as module
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.units import find_units
from pgs_neo4j.search.paths.walk import Hits
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import generation_of_sizes

PARTITIONS = (
    Partition(id=1, size=40, tokens=9, label="tea, salt", titles=("Tea",), abstract="On tea."),
    Partition(id=2, size=30, tokens=9, terms=("silk", "road", "camel", "sand")),
    Partition(id=3, size=20, tokens=9, label="wool", summary="Wool and such."),
)
SCORES = {Place(1, 0): 4.0, Place(2, 7): 2.0, Place(1, 3): 2.0, Place(3, 1): 1.0}
TRADE = {"id": 1, "level": 1, "label": "trade", "titles": ["Tea"], "size": 90}
WORLD = {"id": 1, "level": 2, "label": None, "titles": None, "size": 90}


def state(number: int, *above: Row, **changed: Any) -> Row:
    return {"id": number, "domain_state": "", "run": "", "above": list(above)} | changed


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> OwnIndex:
    """An index whose texts match as ``SCORES`` says."""

    async def read(*asked: object) -> object:
        return object()

    monkeypatch.setattr(module, "read_index", read)
    monkeypatch.setattr(module, "score_nodes", lambda *asked: SCORES)
    return OwnIndex(generation_of_sizes(40, 30, 20), PARTITIONS)


async def units_of(db: FakeDatabase, own: OwnIndex, k: int = 5) -> Hits:
    return await find_units(cast("Database", db), own, "tea", k)


def listed(hits: Hits) -> list[tuple[int, int, Any]]:
    units = [unit for unit in hits.things if isinstance(unit, FoundUnit)]
    return [(unit.level, unit.id, pytest.approx(unit.score)) for unit in units]


async def test_scores_are_relative_and_add_up_in_the_units_above(
    own: OwnIndex,
) -> None:
    db = FakeDatabase(read_unit_states=[state(3), state(1), state(2)])
    hits = await units_of(db, own)
    best = 1 + 0.6 * 0.25
    assert listed(hits) == [(0, 1, 1.0), (0, 2, 0.25 / best), (0, 3, 0.0625 / best)]
    assert hits.scores == {}
    rows = [state(1, TRADE, WORLD), state(2, TRADE, WORLD), state(3)]
    hits = await units_of(FakeDatabase(read_unit_states=rows), own)
    beneath = 1 + 0.25 / 1.15
    assert listed(hits)[3:] == [(1, 1, beneath), (2, 1, beneath)]
    above = hits.things[-1]
    assert isinstance(above, FoundUnit)
    assert (above.label, above.titles, above.size) == ("", (), 90)


async def test_a_partition_is_described_and_carries_its_last_report(own: OwnIndex) -> None:
    read = state(1, domain_state="Trade is old.", run="r9")
    hits = await units_of(FakeDatabase(read_unit_states=[read, state(2)]), own, k=2)
    first, second = hits.things
    assert first == FoundUnit(
        level=0, id=1, label="tea, salt", titles=("Tea",), size=40, score=1.0, abstract="On tea.",
        domain_state="Trade is old.", run="r9",
    )  # fmt: skip
    assert isinstance(second, FoundUnit)
    assert second.label == "silk, road, camel"
    gone = await units_of(FakeDatabase(read_unit_states=[state(2)]), own)
    assert listed(gone)[0][:2] == (0, 2)


async def test_without_a_text_index_nothing_is_compared(
    own: OwnIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*asked: object) -> None:
        return None

    monkeypatch.setattr(module, "read_index", nothing)
    assert (await units_of(FakeDatabase(), own)).method == "no text index of the partitions"
