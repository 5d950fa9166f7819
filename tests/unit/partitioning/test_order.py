"""What is to be partitioned, as data that travels."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.catalog import mapping_from
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning.order import (
    BuildOrder,
    PartitionOrder,
    settings_digest,
)
from pgs_neo4j.partitioning.rows import definition_of
from pgs_neo4j.retrieval.space import Space
from tests.unit.partitioning.conftest import build_order

MAPPING = GraphMapping(labels=("Paper",), text=("title", "abstract"))
ORDER = PartitionOrder(graph="papers", mapping=MAPPING, config=PGSConfig(), when_busy="reuse")
NONE = Space("none")


@pytest.mark.parametrize(
    "order",
    [ORDER, build_order(PGSConfig(random_seed=7), MAPPING, force=True)],
    ids=["job", "build"],
)
def test_an_order_is_read_back_equal_from_a_pickle(order: PartitionOrder | BuildOrder) -> None:
    again = pickle.loads(pickle.dumps(order))
    assert again == order
    assert again.config.model_fields_set == order.config.model_fields_set


def order(mapping: GraphMapping = MAPPING, **config: Any) -> PartitionOrder:
    return PartitionOrder(graph="papers", mapping=mapping, config=PGSConfig(**config))


@pytest.mark.parametrize(
    "other",
    [
        order(min_community_size=20),
        order(target_partition_max=900),
        order(max_partition_tokens=50_000),
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
        order(lease_s=40.0),
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
        assert mapping_from(json.loads(definition_of(mapping))) == mapping


def test_another_space_changes_the_digest() -> None:
    spaces = [NONE, Space("stored", embedding="v"), Space("texts", embedder=HashingEmbedder())]
    assert len({settings_digest(ORDER, space) for space in spaces}) == 3
