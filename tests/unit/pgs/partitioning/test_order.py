"""What is to be partitioned, as data that travels, and the timer of its steps."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine.catalog import parse_mapping
from pgs_neo4j.events import Event, StepStarted
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.order import (
    PartitionOrder,
    StepTimer,
    settings_digest,
)
from pgs_neo4j.pgs.partitioning.rows import definition_of
from pgs_neo4j.search.space import Space

MAPPING = GraphMapping(labels=("Paper",), text=("title", "abstract"))
ORDER = PartitionOrder(graph="papers", mapping=MAPPING, config=PGSConfig(), when_busy="reuse")
NONE = Space("none")


def order(mapping: GraphMapping = MAPPING, **config: Any) -> PartitionOrder:
    return PartitionOrder(graph="papers", mapping=mapping, config=PGSConfig(**config))


@pytest.mark.parametrize(
    "other",
    [
        order(target_partition_max=900),
        order(algorithm="louvain"),
        order(random_seed=7),
        order(centroid="weighted"),
        order(GraphMapping(labels=("Book",), text=("title", "abstract"))),
        order(GraphMapping(labels=("Paper",), text=("abstract", "title"))),
        order(replace(MAPPING, relationship_text="fact")),
        order(replace(MAPPING, chunk_labels=("Paper",))),
        order(replace(MAPPING, mention_types=("MENTIONS",))),
    ],
)
def test_settings_that_decide_partitions_change_the_digest(other: PartitionOrder) -> None:
    assert settings_digest(other, NONE) != settings_digest(ORDER, NONE)


@pytest.mark.parametrize(
    "other",
    [
        order(keep_generations=9),
        order(gds_concurrency=3),
        PartitionOrder(graph="other", mapping=MAPPING, config=PGSConfig(), force=True),
    ],
)
def test_settings_that_do_not_leave_the_digest_alone(other: PartitionOrder) -> None:
    assert settings_digest(other, NONE) == settings_digest(ORDER, NONE)


def test_a_stored_definition_reads_back_equal() -> None:
    facts = replace(
        MAPPING,
        relationship_text="fact",
        relationship_embedding="v",
        chunk_labels=("Paper",),
        mention_types=("MENTIONS", "CITES"),
    )
    for mapping in (MAPPING, facts):
        assert parse_mapping(definition_of(mapping), "papers") == mapping


def test_another_space_changes_the_digest() -> None:
    spaces = [NONE, Space("stored", embedding="v"), Space("texts", embedder=HashingEmbedder())]
    assert len({settings_digest(ORDER, space) for space in spaces}) == 3


def test_steps_are_reported_as_they_begin_and_add_up_also_when_they_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("pgs_neo4j.pgs.partitioning.order.perf_counter", lambda: now)
    events: list[Event] = []
    timer = StepTimer(events.append)
    for name, seconds in (("scan", 1.0), ("compare", 4.0), ("scan", 2.0)):
        with suppress(ZeroDivisionError), timer.step(name):
            assert events[-1] == StepStarted("partition", name)
            now += seconds
            raise ZeroDivisionError
        now += 10.0
    assert list(timer.seconds.items()) == [("scan", 3.0), ("compare", 4.0)]
    assert timer.elapsed() == 37.0
    assert len(events) == 3
