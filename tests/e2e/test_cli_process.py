"""`pgs` as a process against a real Neo4j + GDS, from a look at the database to the purge."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shlex
import sys
from asyncio.subprocess import DEVNULL, PIPE
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from tests.fakes.openai_server import Answer, FakeOpenAI, contract_answer
from tests.graphs import checksum, count, papers
from tests.shells import WAIT_S, Shell, finished


@pytest.fixture
def pgs(shell: Shell) -> Shell:
    """Runs ``pgs`` with the knobs that users have."""
    for name in [name for name in shell.settings if name.endswith(("_SIZE", "_MAX"))]:
        del shell.settings[name]
    return shell


@pytest.mark.schema
@pytest.mark.nightly
async def test_from_a_look_at_the_database_to_the_purge(pgs: Shell, db: Database) -> None:
    await papers(db, isolates=5)
    before = await checksum(db)
    inspected = await pgs("inspect", "--name", "papers")
    proposed = inspected.out.splitlines()[-1]
    assert proposed.startswith("pgs graph add papers ")
    added = await pgs(*shlex.split(proposed)[1:])
    assert added.out.startswith("graph papers is stored\n")
    assert shlex.split(added.out.splitlines()[-1])[:4] == ["pgs", "ask", "--graph", "papers"]
    listed = (await pgs("graph", "list", "--json")).document["graphs"]
    assert [graph["name"] for graph in listed] == ["papers"]

    made = (await pgs("partition", "--json", "--quiet")).document
    assert (made["graph"], made["node_count"], made["reused"]) == ("papers", 165, False)
    assert sum(made["sizes"]) == 165
    assert made["partition_count"] == len(made["sizes"])
    assert made["pooled_nodes"] == 5
    assert (await pgs("partition", "--json")).document["reused"] is True
    listed = (await pgs("partitions", "--json")).document["partitions"]
    assert [part["nodes"] for part in listed] == made["sizes"]
    assert "ammonia" in (await pgs("partitions")).out

    routed = (await pgs("route", "ammonia catalysis", "--json")).document
    assert "best-matching nodes" in routed["routes"][0]["reason"]
    near = (await pgs("route", "ammonia catalysis", "--route-by", "centroids", "--json")).document
    assert near["routes"][0]["similarity"] > 0
    await _ask_until_covered(pgs)

    refused = await pgs("purge")
    assert refused.code == 2
    assert "--yes" in refused.err
    purged = await pgs("purge", "--yes", "--json")
    assert purged.document["nodes"] > 0
    assert await checksum(db) == before
    assert await count(db, "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'Pgs')") == 0


async def _ask_until_covered(pgs: Shell) -> None:
    asked = await pgs("ask", "What is known about the catalysis of ammonia?")
    assert asked.code == 0
    for told in (
        "### Thesis",
        "Sources",
        "Paper ",
        "Coverage",
        "all with text (",
        "No language model was",
    ):
        assert told in asked.out
    assert "pgs ask --continue --graph papers" in asked.out
    assert re.search(r"^sweep: \d+ of \d+ partitions? \(", asked.err, re.MULTILINE)
    assert len(asked.err.splitlines()) <= 6
    first = (await pgs("sessions", "list", "--json")).document["sessions"][0]
    assert 0 < first["coverage"]["nodes_read"] < 165

    first_run = (await pgs("runs", "--json")).document["runs"][0]
    assert (first_run["graph"], first_run["status"]) == ("papers", "complete")
    shown = await pgs("show")
    assert f"note: the latest run: {first_run['id']} of graph papers" in shown.err
    assert first_run["question"] in shown.out

    rest = await pgs("ask", "-c", "And", "what", "else?", "--json", "--quiet")
    assert rest.err == ""
    document = rest.document
    assert document["model"] == "extractive"
    assert document["coverage"]["nodes_read"] == 165
    assert document["coverage"]["partitions_swept"] == document["coverage"]["partitions_total"]
    read = sum(sweep["nodes_read"] for sweep in document["sweeps"])
    assert read == 165 - first["coverage"]["nodes_read"]
    assert all(each["node"].startswith(("doi/", "alone/")) for each in document["citations"])
    shown = (await pgs("sessions", "show", "default", "--json")).document
    assert [run["status"] for run in shown["runs"]] == ["complete", "complete"]
    assert "answer" not in shown["runs"][0]
    whole = (await pgs("sessions", "show", "default", "--full", "--json")).document
    assert whole["runs"][0]["answer"].startswith("## Thesis")
    assert "And what else?" in (await pgs("sessions", "show", "default")).out
    assert (await pgs("sessions", "delete", "default")).code == 2
    assert (await pgs("sessions", "delete", "default", "--yes")).code == 0
    assert (await pgs("sessions", "list", "--json")).document == {"sessions": []}


REFUSED = (
    (("ask", "why?", "--search-mode", "local"), "add --top-k"),
    (("ask", "why?", "--graph", "nope"), "there is no graph nope"),
    (("ask", "why?", "--mode", "continue", "--session", "new"), "no session new"),
    (("partitions",), "is not partitioned yet"),
    (("sessions", "show", "none"), "no session none"),
    (("graph", "add", "x", "--label", "Papre"), "the database has Paper"),
    (("graph", "add", "x", "--label", "PgsRun"), "reserved"),
    (("graph", "add", "not a name"), "cannot be a graph's name"),
    (("index", "create"), "embedding property"),
    (("load", "missing.json", "--graph", "x"), "missing.json"),
)


async def test_what_cannot_be_done_as_asked_is_2(pgs: Shell, stored: Database) -> None:
    for command, said in REFUSED:
        done = await pgs(*command)
        assert (done.code, done.out) == (2, ""), command
        assert len(done.err.splitlines()) == 1, command
        assert said in done.err
    assert await count(stored, "(x:PgsGraph)") == 1


@pytest.mark.thorough
async def test_a_reader_that_leaves_ends_the_run_quietly(pgs: Shell, stored: Database) -> None:
    def long_answer(body: dict[str, Any]) -> str:
        return contract_answer(body) + "\nmore" * 2000

    with FakeOpenAI(default=Answer(long_answer, pieces=400, delay_s=0.02)) as fake:
        reading, writing = os.pipe()
        process = await pgs.start(
            *("ask", "What is missing?", "--quiet"),
            stdout=writing,
            PGS_LLM_BASE_URL=fake.base_url,
            PGS_LLM_API_KEY="k",
        )
        os.close(writing)
        first = await asyncio.to_thread(os.read, reading, 10)
        os.close(reading)
        done = await finished(process)
    assert first == b"### Thesis"
    assert (done.code, done.err) == (141, "")
    assert await count(stored, "(x:PgsRun {status: 'interrupted'})") == 1


@pytest.mark.thorough
async def test_on_a_terminal_progress_is_drawn_and_the_answer_stays_clean(
    pgs: Shell, stored: Database
) -> None:
    watching, terminal = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pgs_neo4j", "ask", "What is known about sleep?"),
            cwd=pgs.folder,
            env=pgs.settings | {"TERM": "xterm-256color", "PYTHONWARNINGS": "error"},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=terminal,
        )
        os.close(terminal)
        shown = asyncio.create_task(asyncio.to_thread(_all_of, watching))
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            out = (await process.stdout.read()).decode()
            assert await process.wait() == 0
            drawn = await shown
    finally:
        os.close(watching)
    assert "\x1b" not in out
    assert out.startswith("### Thesis")
    assert "\x1b[" in drawn
    assert "1 pass" in drawn
    assert await count(stored, "(x:PgsRun {status: 'complete'})") == 1


def _all_of(watching: int) -> str:
    pieces = []
    while True:
        try:
            piece = os.read(watching, 65536)
        except OSError:  # Linux ends a terminal without writers so
            piece = b""
        if not piece:
            return b"".join(pieces).decode(errors="replace")
        pieces.append(piece)


@pytest.mark.thorough
async def test_layered_search_shows_both_answers_and_titles_cannot_drive_the_terminal(
    pgs: Shell, stored: Database
) -> None:
    await stored.call(
        "MATCH (p:Paper) SET p.title = $title + p.title, p.abstract = p.abstract + $title",
        {"title": "\x1b]0;owned\x07\x9b31m[red]"},
        "write",
    )
    layered = await pgs("ask", "ammonia catalysis", "--top-k", "3", "--json")
    found = layered.document
    assert len(found["search"]["nodes"]) == 3
    assert found["search"]["answer"]
    assert found["sweeps"]
    assert await count(stored, "(x:PgsRun {status: 'complete'})") == 1
    for done in (layered, await pgs("ask", "What of ammonia?")):
        assert done.code == 0
        assert "[red]" in done.out
        for text in (done.out, done.err):
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


@pytest.mark.thorough
async def test_load_is_idempotent_and_refuses_the_malformed(pgs: Shell, db: Database) -> None:
    nodes = [{"id": i, "concept": f"fact {i} about topic {i % 2}", "tag": "t"} for i in range(40)]
    edges = [{"source": i, "target": (i + 2) % 40} for i in range(40)]
    brain = pgs.folder / "brain.json"
    brain.write_text(json.dumps({"nodes": nodes, "edges": edges}))
    loaded = (await pgs("load", "brain.json", "--graph", "b", "--json")).document
    assert (loaded["nodes"], loaded["relationships"], loaded["unchanged"]) == (40, 40, False)
    assert "unchanged" in (await pgs("load", "brain.json", "-g", "b")).out
    assert (await pgs("partition", "--json")).document["node_count"] == 40
    brain.write_text('{"nodes": [{"concept": "x"}], "edges": []}')
    broken = await pgs("load", "brain.json", "-g", "b")
    assert broken.code == 2
    assert "nodes[0]" in broken.err
    assert await count(db, "(x:LoadedNode)") == 40


@pytest.mark.thorough
async def test_doctor_tells_what_is_well_and_what_is_not(pgs: Shell, stored: Database) -> None:
    well = await pgs("doctor", "--json")
    assert well.code == 0
    assert well.document["ok"] is True
    ill = await pgs("doctor", PGS_NEO4J_URI="bolt://127.0.0.1:1")
    assert ill.code == 5
    assert "FAIL connection" in ill.out
    assert "fix: " in ill.out
    assert await count(stored, "(x:PgsGraph)") == 1
