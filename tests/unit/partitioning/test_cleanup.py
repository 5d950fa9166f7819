"""What dead jobs left behind is removed, and nothing that is still needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import lease
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.errors import BusyError
from pgs_neo4j.gds import Owner
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning import cleanup
from pgs_neo4j.partitioning.cleanup import clean_up
from pgs_neo4j.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.retrieval.space import Space
from tests.fakes.database import FakeDatabase

ORDER = PartitionOrder(graph="papers", mapping=GraphMapping(), config=PGSConfig(keep_generations=2))


class Site:
    """A graph whose lease may be left over; notes whether GDS was opened and for whom."""

    def __init__(self, *, unreleased: bool, generations: int = 1, alive: bool = False) -> None:
        self.unreleased, self.alive = unreleased, alive
        self.opened = 0
        self.dropped: list[Owner] = []
        self.db: Any = FakeDatabase(
            read_generations=[{"ids": [f"g{n}" for n in range(generations)]}],
            mark_disposable=[{"ids": []}],
        )

    @property
    def tools(self) -> PartitionTools:
        async def open_gds() -> Any:
            self.opened += 1

        return PartitionTools(
            db=self.db, open_gds=open_gds, space=Space("none"), on_event=lambda event: None
        )

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        @asynccontextmanager
        async def held(db: Any, graph: str, *, seconds: float) -> AsyncIterator[Lease]:
            if self.alive:
                raise BusyError("a job is at work")
            yield Lease(graph=graph, holder="here", fence=8)

        async def unreleased(db: Any, graph: str) -> bool:
            return self.unreleased

        async def drop(gds: Any, owner: Owner) -> list[str]:
            self.dropped.append(owner)
            return []

        monkeypatch.setattr(lease, "hold_lease", held)
        monkeypatch.setattr(lease, "is_unreleased", unreleased)
        monkeypatch.setattr(cleanup, "drop_leftovers", drop)


async def test_after_a_clean_end_gds_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(unreleased=False, generations=2)
    site.patch(monkeypatch)
    await clean_up(ORDER, site.tools)
    assert (site.opened, site.dropped) == (0, [])
    assert site.db.params("mark_disposable") == []


async def test_surplus_generations_go_without_a_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(unreleased=False, generations=3)
    site.patch(monkeypatch)
    await clean_up(ORDER, site.tools)
    assert site.db.params("mark_disposable") == [{"graph": "papers", "keep": 2}]
    assert site.opened == 0


async def test_a_dead_job_leaves_neither_seeds_nor_projections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Site(unreleased=True)
    site.patch(monkeypatch)
    await clean_up(ORDER, site.tools)
    assert site.opened == 1
    assert site.dropped == [Owner("papers", 8)]
    assert len(site.db.params("delete_seeds")) == 1
    assert site.db.params("mark_disposable") == [{"graph": "papers", "keep": 2}]


async def test_a_job_that_is_alive_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(unreleased=True, alive=True)
    site.patch(monkeypatch)
    with pytest.raises(BusyError):
        await clean_up(ORDER, site.tools)
    assert site.db.sent == []
