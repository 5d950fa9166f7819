"""The benchmark as a process, on a small generated graph in the test database."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.database import DELETE
from tests.graphs import count

ROOT = Path(__file__).resolve().parents[3]
WAIT_S = 480.0


@pytest.fixture(autouse=True)
async def empty(db):
    """The benchmark refuses a database that holds anything, be it the record of our schema."""
    await db.call(DELETE, {}, "write")


def environment(endpoint):
    given = {**os.environ, "PYTHONPATH": str(ROOT), "PGS_TEST_NEO4J_USER": endpoint.user}
    if endpoint.password is not None:
        given["PGS_TEST_NEO4J_PASSWORD"] = endpoint.password
    return given


async def start(endpoint, folder, *arguments):
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.partition", "--uri", endpoint.uri, *arguments),
        cwd=folder,
        env=environment(endpoint),
        stdout=PIPE,
        stderr=PIPE,
    )


async def finish(process):
    """Exit code, stdout and stderr; the process is gone afterwards."""
    try:
        async with asyncio.timeout(WAIT_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.nightly
async def test_a_small_graph_is_measured_and_taken_away_again(endpoint, db, tmp_path):
    process = await start(
        endpoint, tmp_path, "--files", "2000", "8000", "--changes", "0.01", "--json"
    )
    code, out, err = await finish(process)
    assert code == 0, err
    document = json.loads(out)
    assert document.keys() == {"machine", "runs", "growth"}
    (run,) = document["runs"]
    check_counts(run)
    check_times(run)
    check_changes(run["changes"])
    assert endpoint.password is None or endpoint.password not in out + err
    assert await count(db, "(x)") == 0
    assert list(tmp_path.iterdir()) == []


def check_counts(run):
    quality = run["quality"]
    assert (run["graph"]["nodes"], run["graph"]["relationships"]) == (2000, 8000)
    assert run["graph"]["planted"] >= 5
    assert quality["below"] == quality["above"] == 0
    assert quality["pools"] <= quality["partitions"]
    assert quality["largest_share"] == quality["largest"] / 2000
    assert 0.4 < quality["modularity"] <= quality["raw_modularity"] + 0.01
    assert abs(quality["raw_modularity"] - run["bare"]["modularity"]) < 1e-6
    assert 0.5 < quality["nmi"] <= 1.0
    if importlib.util.find_spec("igraph"):
        assert quality["to_igraph"] == quality["modularity"] / run["igraph"]["modularity"]
        assert 0.8 < quality["to_igraph"] < 1.2
    else:
        assert run["igraph"] is quality["to_igraph"] is None
    assert run["repeat"]["runs"] == len(run["repeat"]["hashes"]) == 1
    assert run["repeat"]["identical"] is None


def check_times(run):
    bare, ours = run["bare"], run["ours"]
    assert len(bare["runs"]) == 2
    assert bare["seconds"] == min(bare["runs"])
    assert bare["seconds"] == bare["projection"] + bare["leiden"] + bare["louvain"]
    assert ours["origin"] == "cold"
    assert {"project", "communities", "limits", "write", "enrich", "flip"} <= ours["steps"].keys()
    assert ours["ratios"] == [ours["seconds"] / bare["seconds"]]
    assert 0 < sum(ours["steps"].values()) <= ours["seconds"]
    assert run["check"]["drift"]["fraction"] == 0
    assert 0 < run["memory"]["python_idle_mib"] <= run["memory"]["python_mib"]
    assert run["memory"]["server_mib"] is None


def check_changes(changes):
    (turn,) = changes["turns"]
    assert changes["relationships"] == 160
    assert turn["drift"]["committed"]
    assert 0.008 < turn["drift"]["fraction"] < 0.012
    assert changes["origins"] == [turn["origin"]]
    assert 0.5 < changes["lineage"] <= 1.0
    assert changes["ratio"] == turn["seconds"] / turn["cold_seconds"]


async def test_a_database_that_holds_something_is_left_alone(endpoint, db, tmp_path):
    await db.call("CREATE (:Precious)", {}, "write")
    process = await start(endpoint, tmp_path, "--files", "200", "800")
    code, out, err = await finish(process)
    assert (code, out) == (2, "")
    assert "holds 1 nodes; name an empty one with --uri" in err
    assert await count(db, "(x:Precious)") == await count(db, "(x)") == 1


@pytest.mark.nightly
async def test_an_interrupted_benchmark_takes_its_graph_away(endpoint, db, tmp_path):
    process = await start(endpoint, tmp_path, "--files", "2000", "8000")
    told = b""
    async with asyncio.timeout(WAIT_S):
        while b"ours (1)" not in told:
            line = await process.stderr.readline()
            assert line, told.decode()
            told += line
        process.send_signal(signal.SIGINT)
    code, out, err = await finish(process)
    assert (code, out) == (130, ""), err
    assert "interrupted" in err
    assert await count(db, "(x)") == 0
