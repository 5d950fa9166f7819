"""Runs that end early, their answers as files, plans, and the cache: `pgs` as a process."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator

import pytest

from pgs_neo4j.database.connection import Database
from tests.fakes.openai_server import Answer, FakeOpenAI, Hang, Status, contract_answer
from tests.graphs import checksum, count
from tests.shells import Shell, finished, until

QUESTION = "What is missing?"
# What may not stay open: projections, and transactions other than the one that asks.
OPEN = (
    "CALL gds.graph.list() YIELD graphName RETURN graphName",
    "SHOW TRANSACTIONS YIELD currentQuery "
    "WHERE NOT currentQuery STARTS WITH 'SHOW' RETURN currentQuery",
)


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(default=Answer(contract_answer)) as running:
        yield running


@pytest.fixture
def pgs(shell: Shell, fake: FakeOpenAI) -> Shell:
    shell.settings |= {"PGS_LLM_BASE_URL": fake.base_url, "PGS_LLM_API_KEY": "k"}
    shell.settings |= {"PGS_EMBEDDER": "none", "PGS_MAX_FLAG_SWEEPS": "0"}
    return shell


def resumable(text: str) -> str:
    """Return the run that a text tells how to resume."""
    (run,) = set(re.findall(r"pgs resume (r[0-9a-f]{12})", text))
    return str(run)


@pytest.mark.nightly
async def test_from_a_bound_to_a_whole_answer_its_files_and_an_empty_cache(
    pgs: Shell, stored: Database, fake: FakeOpenAI
) -> None:
    before = await checksum(stored)
    stopped = await pgs("ask", QUESTION, "--max-calls", "2")
    assert stopped.code == 3
    assert stopped.out.startswith("### Thesis")
    assert "1 partition swept; 40 nodes read; 3 not read" in " ".join(stopped.out.split())
    assert "2 calls (max_calls)" in stopped.out
    assert "could exceed the limit of 2 calls" in stopped.err
    assert len(fake.chats) == 2
    run = resumable(stopped.out)

    resumed = await pgs("resume", run, "--max-calls", "none")
    assert resumed.code == 0
    assert f"run: {run} resumes" in resumed.err
    assert "4 partitions swept; 160 nodes read" in resumed.out
    assert "1 from the cache" in resumed.out
    assert "pgs resume" not in resumed.out
    assert len(fake.chats) == 2 + 4
    again = await pgs("resume", run, "--quiet")
    assert (again.code, again.out, again.err) == (0, resumed.out, "")

    shown = await pgs("show", run)
    assert (shown.code, shown.err) == (0, "")
    assert QUESTION in shown.out
    advised = resumed.out.index("\nThe whole graph has been read")
    assert shown.out.endswith(resumed.out[:advised])
    await _export(pgs, run)
    planned = (await pgs("plan", QUESTION, "--json", "--quiet")).document
    assert (planned["total"]["cached"], planned["unpriced"]) == (4, ["gpt-5-mini", "gpt-5"])
    assert (await pgs("cache", "clear", "--yes", "--json")).document["replies"] > 0
    assert len(fake.chats) == 2 + 4
    assert await checksum(stored) == before


async def _export(pgs: Shell, run: str) -> None:
    for name, begins in (("a.html", "<!DOCTYPE html>"), ("a.json", "{")):
        done = await pgs("export", run, "--to", name)
        assert (done.code, done.err) == (0, "")
        text = (pgs.folder / name).read_text("utf-8")
        assert text.startswith(begins)
        assert "The fake model claims one thing" in text


@pytest.mark.thorough
async def test_a_bound_too_small_for_anything_is_3_and_says_how_to_go_on(
    pgs: Shell, stored: Database
) -> None:
    stopped = await pgs("ask", QUESTION, "--max-calls", "1", "--json", "--quiet")
    assert (stopped.code, stopped.out) == (3, "")
    told = json.loads(stopped.err)
    assert told["error"].startswith("nothing was read")
    assert told["code"] == 3
    run = resumable(told["fix"])
    shown = await pgs("show", run)
    assert "Status    stopped, without an answer" in shown.out
    assert resumable(shown.out) == run
    listed = await pgs("sessions", "show", "default")
    assert resumable(listed.out) == run
    exported = await pgs("export", run, "--to", "a.md")
    assert exported.code == 2
    assert "has no answer" in exported.err
    again = await pgs("resume", run, "--quiet")
    assert (again.code, again.out) == (3, "")
    assert (await pgs("resume", run, "--max-calls", "9", "--quiet")).code == 0
    assert await count(stored, "(x:PgsRun)") == 1


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.thorough), signal.SIGTERM]
)
async def test_an_interrupted_run_leaves_nothing_open_and_says_how_to_go_on(
    pgs: Shell, stored: Database, fake: FakeOpenAI, number: signal.Signals
) -> None:
    fake.script(Answer(contract_answer))
    fake.default = Hang()
    process = await pgs.start("ask", QUESTION, "--quiet")

    async def swept() -> bool:
        return await count(stored, "(x:PgsSweep)") > 0

    await until(swept, process)
    process.send_signal(number)
    done = await finished(process)
    assert (done.code, done.out) == (130, "")
    run = resumable(done.err)
    assert done.err.splitlines()[-1] == "pgs: interrupted"
    assert await count(stored, "(x:PgsRun {status: 'interrupted'})") == 1
    for statement in OPEN:
        _, rows = await stored.call(statement, {}, "read")
        assert rows == []
    fake.default = Answer(contract_answer)
    resumed = await pgs("resume", run, "--json", "--quiet")
    assert resumed.code == 0
    assert resumed.document["usage"]["cached"] == 1
    assert resumed.document["coverage"]["nodes_read"] == 160
    assert await count(stored, "(x:PgsRun)") == 1


async def test_a_model_that_fails_is_6_and_the_run_goes_on_when_it_is_well(
    pgs: Shell, stored: Database, fake: FakeOpenAI
) -> None:
    pgs.settings["PGS_LLM_API_KEY"] = "k-secret"
    fake.default = Status(400, message="no such thing")
    failed = await pgs("ask", QUESTION, "--quiet")
    assert (failed.code, failed.out) == (6, "")
    assert "sweeps failed (" in failed.err
    fake.default = Answer(contract_answer)
    # It may refuse long replies. So the same is asked again for shorter ones, and refused again.
    fake.refuse = lambda request: (
        Status(400, message="no such thing") if "sleep and memory" in str(request.body) else None
    )
    partial = await pgs("resume", resumable(failed.err), "--json", "--quiet")
    fake.refuse = lambda request: None
    assert partial.code == 3
    document = partial.document
    assert document["partial"] is True
    assert sorted({sweep["status"] for sweep in document["sweeps"]}) == ["accepted", "failed"]
    assert document["coverage"]["nodes_read"] < 160
    assert (await pgs("resume", document["run"], "--quiet")).code == 0
    assert "k-secret" not in failed.err + partial.err + partial.out
