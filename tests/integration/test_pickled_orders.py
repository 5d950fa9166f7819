"""Every order of a run can be sent to another process: pickled and read back, it is equal."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import questions
from pgs_neo4j.pgs import pipeline, record, waves
from pgs_neo4j.pgs.checking import check
from pgs_neo4j.pgs.checking.check import CheckOrder
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.pgs.partitioning import ensure
from pgs_neo4j.pgs.partitioning.order import BuildOrder, PartitionOrder
from pgs_neo4j.pgs.sweeping.order import SweepOrder
from pgs_neo4j.pgs.synthesis.reply import SynthesisOrder
from pgs_neo4j.search.lookup_order import LookupOrder
from tests.conftest import Endpoint
from tests.engines import engine_on_papers

PLAIN = (str, int, float, bool, type(None))
STEPS = (
    (questions.pipeline, "execute"),  # type: ignore[attr-defined]
    (record, "ensure_partitions"),
    (ensure, "build_generation"),
    (waves, "sweep_partition"),
    (check, "look_up"),
    (pipeline, "check_reports"),
    (pipeline, "write_synthesis"),
)


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every order that a step of a run was given, in turn."""
    given: list[Any] = []

    def listen(step: Any) -> Any:
        async def heard(*values: Any, **options: Any) -> Any:
            given.append(next(value for value in values if type(value).__name__.endswith("Order")))
            return await step(*values, **options)

        return heard

    for module, name in STEPS:
        monkeypatch.setattr(module, name, listen(getattr(module, name)))
    return given


def leaves(value: Any) -> list[Any]:
    """The values that an order is made of."""
    if isinstance(value, PGSConfig):
        return [leaf for name in PGSConfig.model_fields for leaf in leaves(getattr(value, name))]
    if is_dataclass(value):
        return [leaf for part in fields(value) for leaf in leaves(getattr(value, part.name))]
    if isinstance(value, dict):
        return [leaf for pair in value.items() for item in pair for leaf in leaves(item)]
    if isinstance(value, tuple | list | frozenset):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@pytest.mark.thorough
async def test_every_order_of_a_run_is_read_back_equal(
    endpoint: Endpoint, db: Database, orders: list[Any]
) -> None:
    async with engine_on_papers(
        endpoint, db, topics=6, embedder="hashing", max_flag_sweeps=2
    ) as engine:
        await engine.execute("What holds?", graph="papers", max_sweep_partitions=2)
        await engine.execute("What is missing?", graph="papers", mode="continue")
    kinds = Counter(type(order) for order in orders)
    assert kinds[RunOrder] == kinds[PartitionOrder] == 2
    assert kinds[CheckOrder] == kinds[SynthesisOrder] == 2
    assert kinds[SweepOrder] >= 4
    assert kinds[LookupOrder] >= 1
    assert kinds[BuildOrder] == 1
    for order in orders:
        again = pickle.loads(pickle.dumps(order))
        assert again == order
        if hasattr(order, "config"):
            assert again.config.model_fields_set == order.config.model_fields_set
        assert all(isinstance(leaf, PLAIN) for leaf in leaves(order)), type(order)
