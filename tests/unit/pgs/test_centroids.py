"""Centroids are read only when a question is compared with them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import ignore
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.request import Request
from pgs_neo4j.pgs.route import route_question
from pgs_neo4j.search.space import QuestionVector, Space
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, partition

CENTROIDS = {1: [1.0, 0.0], 2: [0.0, 1.0], 3: None}
NEAR_SECOND = QuestionVector(np.array([0.0, 1.0], dtype=np.float32))


async def routed(
    db: Any, parts: list[Partition], question: str = "Why?", **options: Any
) -> list[int]:
    """The partitions that a question is routed to by centroids."""
    order = RunOrder(
        request=Request(question, full_sweep=options.get("full_sweep", False)),
        graph="papers",
        mapping=GraphMapping(),
        config=PGSConfig(route_by="centroids"),
    )
    tools: Any = SimpleNamespace(db=db, space=Space("stored"), log=RunLog(ignore))
    partitioning = Partitioning(generation_of_sizes(1, 1, 1), tuple(parts), True, 0.0)
    vector = options.get("vector", NEAR_SECOND)
    routing = await route_question(order, tools, partitioning, parts, vector)
    return [route.partition for route in routing.routes]


@pytest.fixture
def db() -> Any:
    """A database that holds the centroids of three partitions."""
    return FakeDatabase(
        read_centroids=lambda params: [
            {"uid": uid, "centroid": CENTROIDS[int(uid[-1])]} for uid in params["uids"]
        ]
    )


async def test_centroids_that_decide_are_read_of_the_candidates(db: Any) -> None:
    assert await routed(db, [partition(2), partition(3)]) == [2]
    assert db.params("read_centroids") == [{"uids": ["g1:2", "g1:3"]}]


@pytest.mark.parametrize(
    "options",
    [
        {"full_sweep": True},
        {"question": "What are the main themes?"},
        {"vector": QuestionVector(None, "no words")},
    ],
)
async def test_centroids_that_decide_nothing_are_not_read(db: Any, options: Any) -> None:
    assert await routed(db, [partition(n) for n in CENTROIDS], **options) == [1, 2, 3]
    assert db.sent == []
