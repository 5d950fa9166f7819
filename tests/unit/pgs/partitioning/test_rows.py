"""Generations, partitions, and units: to rows of the database, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.model import Adjacent, Unit
from pgs_neo4j.pgs.partitioning.rows import (
    StoredGeneration,
    generation_of,
    generation_properties,
    partition_of,
    partition_row,
    unit_of,
    unit_row,
)
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, partition

GENERATION = generation_of_sizes(
    40,
    30,
    origin="seeded",
    embedder="stored:v",
    dimensions=3,
    issues={"self_loops": 2, "isolated_nodes": 1},
    raw_modularity=0.6,
    conductance=0.25,
    split=1,
    merged=2,
    pools=1,
    pooled_nodes=5,
    levels=(4, 2),
    seconds={"scan": 0.125, "write": 2.0},
    token="db:7",
    settings="digest",
    common=("graph", "node"),
    grown=0.125,
    documents_together=0.975,
)


def stored(**more: Any) -> StoredGeneration:
    properties = generation_properties(GENERATION, **more)
    return cast("StoredGeneration", {"id": "g1", "created_at": GENERATION.created_at} | properties)


def test_a_generation_is_read_back_equal() -> None:
    assert "sketch" in stored(sketch=[1, 2])
    assert generation_of("papers", stored(sketch=[1, 2])) == GENERATION


def test_seconds_are_rounded_to_milliseconds() -> None:
    long = generation_of_sizes(1, seconds={"scan": 1.23456})
    assert json.loads(generation_properties(long)["seconds"]) == {"scan": 1.235}


@pytest.mark.parametrize("centroid", [None, np.array([0.5, -0.25], dtype=np.float32)])
def test_a_partition_is_read_back_equal(centroid: Any) -> None:
    links = (Adjacent(2, 9, 1.5), Adjacent(3, 9, 1.0), Adjacent(1, 4, 8.0))
    written = partition(
        4, 40, keywords=("ice",), summary="Ice.", pool=True, centroid=centroid, adjacent=links
    )
    row: Any = {
        "partition": partition_row(written),
        "adjacent": [[link.id, link.edges, link.weight] for link in links[::-1]],
        "parent": 2,
    }
    read = partition_of(row)
    assert replace(read, centroid=None) == replace(written, centroid=None, parent=2)
    if centroid is None:
        assert read.centroid is None
    else:
        assert read.centroid is not None
        assert read.centroid.dtype == np.float32
        assert read.centroid.tolist() == centroid.tolist()


def test_adjacent_partitions_come_by_edges_then_weight_then_id() -> None:
    row: Any = {
        "partition": partition_row(partition(1)),
        "adjacent": [[5, 1, 1.0], [4, 1, 1.0], [3, 1, 2.0], [2, 7, 0.5]],
        "parent": None,
    }
    assert [link.id for link in partition_of(row).adjacent] == [2, 3, 4, 5]


BAD: tuple[object, ...] = (None, True, -1, 2**60, "x", ["x"], [float("nan")], [[1]], b"x", ...)


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_a_partition_that_another_program_changed_is_refused(bad: object) -> None:
    row: Any = {
        "partition": partition_row(partition(1, keywords=("ice",))),
        "adjacent": [[2, 1, 1.0]],
        "parent": None,
    }
    kept = partition_of(row)
    for name, value in row["partition"].items():
        text = isinstance(value, str) and isinstance(bad, str)
        texts = isinstance(value, list) and bad == ["x"]
        flag = isinstance(value, bool) and isinstance(bad, bool)
        if text or texts or flag or name in ("level", "centroid"):
            continue  # level is not read, and a centroid may be missing
        with pytest.raises(StoredDataError, match=f"{name}.*is malformed; make the partitions"):
            partition_of(row | {"partition": row["partition"] | {name: bad}})
    for links in ([bad], [[bad, 1, 1.0]], [[2, bad, 1.0]], [[2, 1]], [[2, 1, float("nan")]], bad):
        with pytest.raises(StoredDataError, match=r"adjacent.* is (malformed|missing)"):
            partition_of(row | {"adjacent": links})
    assert partition_of(row) == kept


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_a_unit_that_another_program_changed_is_refused(bad: object) -> None:
    unit = Unit(id=3, level=2, size=70, partitions=5, keywords=("ice", "snow"), parent=1)
    row: Any = {"unit": unit_row("g1", unit), "parent": 1}
    for name in ("id", "level", "size", "partitions", "keywords", "terms"):
        if bad == ["x"] and isinstance(row["unit"][name], list):
            continue
        with pytest.raises(StoredDataError, match="is malformed"):
            unit_of(row | {"unit": row["unit"] | {name: bad}})


def test_a_unit_is_read_back_equal_and_has_a_key_of_its_level() -> None:
    unit = Unit(id=3, level=2, size=70, partitions=5, keywords=("ice", "snow"), parent=1)
    written = unit_row("g1", unit)
    assert written["uid"] == "g1:2:3"
    row: Any = {"unit": written, "parent": 1}
    assert unit_of(row) == unit
