"""Runs that end early, their answers as files, plans, and the cache: `pgs` as a process."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator

import pytest

from pgs_neo4j import catalog
from pgs_neo4j.database.connection import Database
from tests.fakes.openai_server import Answer, FakeOpenAI, Hang, Status, contract_answer
from tests.graphs import checksum, count, papers
from tests.shells import Shell, finished, until

QUESTION = "What is missing?"
PRICES = """
[models."gpt-5-mini"]
input_price = 0.25
output_price = 2.0
[models."gpt-5"]
input_price = 1.25
output_price = 10.0
"""


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(default=Answer(contract_answer)) as running:
        yield running


@pytest.fixture
def pgs(shell: Shell, fake: FakeOpenAI) -> Shell:
    shell.settings |= {"PGS_LLM_BASE_URL": fake.base_url, "PGS_LLM_API_KEY": "k"}
    shell.settings |= {"PGS_EMBEDDER": "none", "PGS_MAX_FLAG_SWEEPS": "0"}
    return shell


@pytest.fixture
async def stored(db: Database) -> Database:
    """Four topics of papers, each of which becomes a partition."""
    await catalog.add(db, "papers", await papers(db))
    return db


def resumable(text: str) -> str:
    """Return the run that a text tells how to resume."""
    (run,) = set(re.findall(r"pgs resume (r[0-9a-f]{12})", text))
    return str(run)


@pytest.mark.thorough
async def test_from_a_bound_to_a_whole_answer_its_files_and_an_empty_cache(
    pgs: Shell, stored: Database, fake: FakeOpenAI
) -> None:
    before = await checksum(stored)
    stopped = await pgs("ask", QUESTION, "--max-calls", "2")
    assert stopped.code == 3
    assert stopped.out.startswith("## Thesis")
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
    await _plan_and_clear(pgs)
    assert len(fake.chats) == 2 + 4
    assert await checksum(stored) == before


async def _export(pgs: Shell, run: str) -> None:
    for name, begins in (("a.html", "<!DOCTYPE html>"), ("a.json", "{")):
        done = await pgs("export", run, "--to", name)
        assert (done.code, done.err) == (0, "")
        text = (pgs.folder / name).read_text("utf-8")
        assert text.startswith(begins)
        assert "The fake model claims one thing" in text
    exported = json.loads((pgs.folder / "a.json").read_text("utf-8"))
    document = (await pgs("show", run, "--json")).document
    # Areas and sources are for the page; all else has the same keys and values in both.
    assert exported.keys() - document.keys() == {"areas", "sources"}
    for key in exported.keys() & document.keys():
        assert document[key] == exported[key]
    left = {path.name for path in pgs.folder.iterdir() if path.is_file()}
    assert left == {"a.html", "a.json"}


async def _plan_and_clear(pgs: Shell) -> None:
    planned = (await pgs("plan", QUESTION, "--json", "--quiet")).document
    assert [part["cached"] for part in planned["sweeps"]] == [1] * 4
    assert planned["total"]["cached"] == 4
    assert planned["unpriced"] == ["gpt-5-mini", "gpt-5"]
    told = await pgs("plan", QUESTION, "--max-calls", "2", "--no-cache")
    assert told.code == 0
    assert '[models."gpt-5-mini"]' in told.out
    assert "2 calls (max_calls) would leave about 3 of 4 unread" in told.out
    (pgs.folder / "pgs.toml").write_text(PRICES)
    assert "Cost      between " in (await pgs("plan", QUESTION)).out

    assert (await pgs("cache", "show", "--json")).document["replies"] > 0
    assert (await pgs("cache", "clear")).code == 2
    assert (await pgs("cache", "clear", "--yes", "--json")).document["replies"] > 0
    assert (await pgs("cache", "show")).out.startswith("0 replies stored")
    planned = (await pgs("plan", QUESTION, "--json", "--quiet")).document
    assert planned["total"]["cached"] == 0
    assert 0 < planned["cost"]["low"] < planned["cost"]["high"]


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
async def test_an_interrupted_run_says_how_to_go_on(
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
    fake.default = Answer(contract_answer)
    resumed = await pgs("resume", run, "--json", "--quiet")
    assert resumed.code == 0
    assert resumed.document["usage"]["cached"] == 1
    assert resumed.document["coverage"]["nodes_read"] == 160


@pytest.mark.thorough
async def test_a_model_that_fails_is_6_and_the_run_goes_on_when_it_is_well(
    pgs: Shell, stored: Database, fake: FakeOpenAI
) -> None:
    fake.default = Status(400, message="no such thing")
    failed = await pgs("ask", QUESTION, "--quiet")
    assert (failed.code, failed.out) == (6, "")
    fake.default = Answer(contract_answer)
    assert (await pgs("resume", resumable(failed.err), "--quiet")).code == 0


async def test_an_idempotency_key_gives_the_same_answer_and_pays_once(
    pgs: Shell, stored: Database, fake: FakeOpenAI
) -> None:
    key = ("--idempotency-key", "k1", "--json", "--quiet")
    first = await pgs("ask", QUESTION, *key)
    paid = len(fake.chats)
    again = await pgs("ask", QUESTION, *key)
    assert (first.code, again.code, len(fake.chats)) == (0, 0, paid)
    assert again.document["run"] == first.document["run"]
    assert again.document["answer"] == first.document["answer"]
    other = await pgs("ask", "Another question?", *key)
    assert (other.code, other.out) == (2, "")
    assert "idempotency key" in other.err


async def test_a_run_that_is_not_there_is_2(pgs: Shell, stored: Database) -> None:
    done = await pgs("export", "r0", "--to", "a.md")
    assert (done.code, done.out) == (2, "")
    assert "there is no run 'r0'" in done.err
    assert len(done.err.splitlines()) == 1
    assert not (pgs.folder / "a.md").exists()
