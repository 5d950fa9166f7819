"""Cleaning up costs little after a clean end."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import ignore
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.ensure import clean_up
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.search.space import Space
from tests.fakes.database import FakeDatabase

ORDER = PartitionOrder(graph="papers", mapping=GraphMapping(), config=PGSConfig(keep_generations=2))


async def open_gds() -> Any:
    raise AssertionError("GDS was opened")


@pytest.mark.parametrize(
    ("generations", "pruned"), [(2, []), (3, [{"graph": "papers", "keep": 2}])]
)
async def test_after_a_clean_end_gds_is_not_opened(generations: int, pruned: list[Any]) -> None:
    db: Any = FakeDatabase(
        read_generations=[{"ids": [f"g{n}" for n in range(generations)]}],
        mark_disposable=[{"ids": []}],
    )
    tools = PartitionTools(db=db, open_gds=open_gds, space=Space("none"), on_event=ignore)
    await clean_up(ORDER, tools)
    assert db.params("mark_disposable") == pruned
