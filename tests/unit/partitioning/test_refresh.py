"""A refreshed generation: same partitions, only the touched ones written again."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.model import Drift
from pgs_neo4j.partitioning.drift import Comparison
from pgs_neo4j.partitioning.predecessor import Predecessor
from pgs_neo4j.partitioning.refresh import refresh_generation
from tests.unit.partitioning.conftest import (
    build_order,
    build_tools,
    generation_of_sizes,
    ints,
    partition,
    view_of,
)
from tests.unit.partitioning.test_writing import ANSWERS

PREVIOUS = Predecessor(
    generation_of_sizes(2, 2, modularity=0.75, settings="s", grown=0.1),
    (partition(1, 2, keywords=("ice",), parent=1), partition(2, 2, keywords=("law",), parent=1)),
    Comparison(Drift(committed=True, texts_changed=1, nodes=4), ints(0, 0, 1, 1), (2,)),
)
ORDER = build_order()
UNIT = {"id": 1, "level": 1, "size": 4, "partitions": 2, "keywords": ["ice"]}
VIEW = view_of([1, 2, 3, 4], tokens=ints(5, 6, 7, 8), issues={"isolated_nodes": 4})


def answers(**changes: Any) -> dict[str, Any]:
    return (
        ANSWERS
        | {
            "create_generations": lambda params: [{"id": params["id"]}],
            "set_current": lambda params: [{"generation": params["generation"]}],
            "read_units": [{"unit": UNIT, "parent": None}],
        }
        | changes
    )


async def test_only_touched_partitions_are_written_again() -> None:
    tools = build_tools(**answers())
    assert await refresh_generation(ORDER, tools, VIEW, PREVIOUS)
    db: Any = tools.db
    first, second, units = db.params("write_partitions")
    (row,) = first["rows"]
    assert first["generation"] == "g2"
    assert (row["id"], row["uid"], row["tokens"]) == (2, "g2:2", 15)
    assert row["lineage"] == "g0:2"
    assert set(second["rows"][0]["keywords"]) == {"courts", "decide"}
    assert units["rows"][0]["uid"] == "g2:1:1"
    assert db.params("write_shared")[0]["partitions"] == [1]


async def test_the_figures_stay_and_what_was_scanned_is_new() -> None:
    tools = build_tools(**answers())
    await refresh_generation(ORDER, tools, VIEW, PREVIOUS)
    db: Any = tools.db
    (params,) = db.params("set_current")
    stored = params["properties"]
    assert (stored["modularity"], stored["grown"]) == (0.75, 0.1)
    assert (stored["fingerprint"], stored["origin"]) == (VIEW.fingerprint("s"), "refreshed")
    assert stored["issues"] == '{"isolated_nodes": 4}'
    assert stored["token"] == "t"
    assert stored["sketch"] == VIEW.sketch.tolist()


async def test_the_hierarchy_stays() -> None:
    tools = build_tools(**answers())
    await refresh_generation(ORDER, tools, VIEW, PREVIOUS)
    db: Any = tools.db
    assert db.params("set_current")[0]["generation"] == "g2"
    assert db.params("write_parents")[0]["rows"] == [
        {"child": "g1:1", "parent": "g2:1:1"},
        {"child": "g2:2", "parent": "g2:1:1"},
    ]


@pytest.mark.parametrize("units", [[], [{"unit": UNIT, "parent": None}]])
async def test_a_node_that_vanished_leaves_the_old_generation(units: Any) -> None:
    tools = build_tools(**answers(read_member_count=[{"members": 3}], read_units=units))
    assert not await refresh_generation(ORDER, tools, VIEW, PREVIOUS)
    db: Any = tools.db
    assert db.params("set_current") == []
    assert len(db.params("mark_abandoned")) == 1
