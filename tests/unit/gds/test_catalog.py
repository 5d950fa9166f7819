"""Names of projections, and what is dropped when."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.gds import PREFIX, Owner, drop_leftovers, list_leftovers
from pgs_neo4j.gds.catalog import NAME_PATTERN, drop_at_end, make_name, name_digest, project
from tests.unit.gds.conftest import MakeGDS


def test_a_name_carries_the_graph_and_the_fence_and_is_new_each_time(make_gds: MakeGDS) -> None:
    gds = make_gds(owner=Owner("my papers; DROP", 12))
    names = {make_name(gds) for _ in range(20)}
    assert len(names) == 20
    for name in names:
        assert re.fullmatch(NAME_PATTERN, name)
        assert name.startswith(f"{PREFIX}{name_digest('my papers; DROP')}_12_")


def test_without_an_owner_the_fence_is_zero(make_gds: MakeGDS) -> None:
    assert make_name(make_gds()).split("_")[1:3] == [name_digest(""), "0"]


def test_digests_tell_graphs_apart_and_fit_any_name() -> None:
    digests = {name_digest(graph) for graph in ("", "a", "b", "ä", "a b")}
    assert len(digests) == 5
    assert all(re.fullmatch("[0-9a-f]{8}", digest) for digest in digests)


@pytest.mark.parametrize("graph", [None, "papers"])
async def test_leftovers_are_asked_for_by_age_and_graph(
    make_gds: MakeGDS, graph: str | None
) -> None:
    gds = make_gds(read_projections=[{"names": ["pgs_0_1_2"]}])
    assert await list_leftovers(gds, 60.0, graph) == ["pgs_0_1_2"]
    db: Any = gds.db
    (params,) = db.params("read_projections")
    assert params["older_than_s"] == 60.0
    assert params["prefix"] == (PREFIX if graph is None else f"{PREFIX}{name_digest(graph)}_")


async def test_only_projections_of_older_fences_are_dropped(make_gds: MakeGDS) -> None:
    names = [f"pgs_0123abcd_{fence}_01234567" for fence in (3, 4, 10)]
    gds = make_gds(read_projections=[{"names": names}])
    assert await drop_leftovers(gds, Owner("papers", 4)) == names[:1]
    db: Any = gds.db
    assert db.sent[0][1] == {"graph": "papers", "fence": 4}
    assert db.sent[-1][1] == {"names": names[:1]}


async def test_a_projection_is_dropped_even_when_the_work_fails(make_gds: MakeGDS) -> None:
    gds = make_gds()
    with pytest.raises(ZeroDivisionError):
        async with drop_at_end(gds, "pgs_1"):
            raise ZeroDivisionError
    db: Any = gds.db
    assert [params for _, params in db.sent] == [{"names": ["pgs_1"]}]


async def test_a_failure_to_drop_does_not_hide_the_result(make_gds: MakeGDS) -> None:
    gds = make_gds()
    db: Any = gds.db

    def refuse(text: str, params: dict[str, Any]) -> list[dict[str, Any]]:
        raise DatabaseError("gone")

    db.text_answer = refuse
    async with drop_at_end(gds, "pgs_1"):
        result = 1
    assert result == 1
    assert len(db.sent) == 1


@pytest.mark.parametrize("matched", [True, False])
async def test_projecting_yields_the_graph_or_none(make_gds: MakeGDS, matched: bool) -> None:
    projected: list[dict[str, Any]] = []

    def run(text: str, params: dict[str, Any]) -> bool:
        projected.append(params)
        return matched

    client = SimpleNamespace(graph=SimpleNamespace(get=lambda name: f"graph {name}"))
    gds = make_gds(client, SimpleNamespace(project=run))
    async with project(gds, "gds/project_view", ids=[1]) as graph:
        name = projected[0]["name"]
        assert graph == (f"graph {name}" if matched else None)
    assert projected == [{"name": name, "ids": [1]}]
    db: Any = gds.db
    assert db.sent[-1][1] == {"names": [name]}
