"""The API for code that is not asynchronous, and for cells of a notebook, on a real database."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseUnavailableError, UnknownGraphError, UsageError
from pgs_neo4j.model import Answer
from pgs_neo4j.sync import SyncView, connect, connect_without_models
from tests.conftest import Endpoint
from tests.engines import own_engine


def settings_of(endpoint: Endpoint) -> dict[str, Any]:
    return {
        name: value for name, value in own_engine(endpoint).items() if not name.endswith("_llm")
    }


def work(endpoint: Endpoint) -> list[object]:
    heard: list[str] = []
    with connect(on_event=lambda event: heard.append(event.kind), **own_engine(endpoint)) as pgs:
        assert [graph.name for graph in pgs.graphs()] == ["papers"]
        answer = pgs.execute("Why?", full_sweep=True)
        assert isinstance(answer, Answer)
        assert "run_started" in heard
        assert pgs.runs.answer(answer.run).text == answer.text
        (first, *_) = pgs.partitions()
        members = pgs.browse.members("papers", first.id).members
        assert pgs.browse.node("papers", members[0].element_id).text
        assert pgs.search("orbital debris", mode="hybrid").items
        assert pgs.config.max_sweep_partitions == 15
        with pytest.raises(UnknownGraphError, match="no graph"):
            pgs.graphs.get("nothing")
        with pytest.raises(AttributeError):
            pgs.nothing()
        listed: list[object] = []
        threads = [threading.Thread(target=lambda: listed.append(pgs.graphs())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with pytest.raises(UsageError, match="it is closed"):
        pgs.graphs()
    pgs.close()
    with connect_without_models(**settings_of(endpoint)) as without:
        assert without.plan("Why?", graph="papers").sweeps
    return listed


@pytest.mark.thorough
async def test_each_call_returns_when_its_work_is_done(pgs: PGS, endpoint: Endpoint) -> None:
    await pgs.partitions.build("papers")
    assert len(await asyncio.to_thread(work, endpoint)) == 4


async def test_it_has_what_the_engine_has_and_its_words(pgs: PGS, endpoint: Endpoint) -> None:
    def look() -> None:
        with connect(**own_engine(endpoint)) as opened:
            public = {name for name in dir(PGS) if not name.startswith("_")}
            assert public <= {*dir(opened)}
            assert inspect.getdoc(opened.execute) == inspect.getdoc(PGS.execute)
            assert inspect.signature(opened.plan) == inspect.signature(pgs.plan)
            views = [name for name in public if isinstance(getattr(opened, name), SyncView)]
            assert {"graphs", "partitions", "sessions", "runs", "jobs", "indexes", "search"} <= {
                *views
            }
            assert repr(opened.graphs) == "sync Graphs"

    await asyncio.to_thread(look)


async def test_a_connection_of_cells_is_open_until_it_is_closed(
    pgs: PGS, endpoint: Endpoint
) -> None:
    opened = await PGS.open(**own_engine(endpoint))
    assert [graph.name for graph in await opened.graphs()] == ["papers"]
    await opened.close()
    await opened.close()
    with pytest.raises(DatabaseUnavailableError, match="the connection is closed; connect again"):
        await opened.graphs()
    await pgs.close()
    assert await pgs.graphs(), "a connection of connect stays open"


async def test_a_connection_that_cannot_be_made_leaves_nothing_open(endpoint: Endpoint) -> None:
    wrong = {**own_engine(endpoint), "neo4j_uri": "bolt://127.0.0.1:1"}
    with pytest.raises(DatabaseUnavailableError):
        await PGS.open(**wrong)
