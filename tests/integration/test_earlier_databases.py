"""A database of version 0.1.0 keeps working: nothing is lost, and nothing is paid for twice.

The dump holds what processes of that version left behind, killed ones among them. It is restored
as it was. Only values that depend on ids of nodes are computed again, by that version's formulas.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgs_neo4j import PGS
from pgs_neo4j.database.connection import Database
from pgs_neo4j.llm.scripted import ScriptedLLM
from tests.conftest import Endpoint
from tests.database import empty
from tests.earlier.dump import Dump, load, read_database, write_database
from tests.earlier.hashes import change_token, hashes_of
from tests.earlier.scenario import (
    BRAIN,
    QUESTION,
    brain_file,
    command,
    engine_on,
    load_of,
    written_state,
)
from tests.graphs import checksum, count

DUMP = Path(__file__).parents[1] / "earlier" / "database_0_1_0.json"
# Keys that 0.1.0 did not print, and a key that tells where: in routes, partitions, and so on.
ADDED = {
    "own_coverage": "coverage",
    "texts_read": "nodes_read",
    "texts_total": "nodes_total",
    "evidence": "similarity",
    "matches": "similarity",
    "unmatched": "fallback",
    "advice": "flagged",
    "label": "keywords",
    "terms": "keywords",
    "titles": "keywords",
    "abstract": "keywords",
    "tally": "routing",
    "claimed": "routing",
    "outcome": "asked_at",
    "relationship_name": "relationship_types",
    "relationship_text": "relationship_types",
    "relationship_embedding": "relationship_types",
    "chunk_labels": "relationship_types",
    "mention_types": "relationship_types",
    "embedding_model": "relationship_types",
    "options": "kind",
}
GRAPHS: dict[str, dict[str, Any]] = {
    "brain": {"min_community_size": 2, "target_partition_max": 3},
    "papers": {},
}

SET_HASHES = """
UNWIND $rows AS row
MATCH (c:PgsGeneration {id: row.id})
SET c.fingerprint = row.fingerprint, c.sketch = row.sketch, c.token = $token
"""
# What newer releases add to the answer's own absences, and to partitions and checked absences.
VERDICT = re.compile(r" \((?:un)?checked: [^()]*\)")
TEXTS = ("size", "searched")
# A lock's timestamp. Nothing reads it, and those jobs are no longer locked.
NOT_WRITTEN = {("PgsJob", "checked_at", "DateTime")}
LEFT = "(x) WHERE any(label IN labels(x) WHERE label STARTS WITH 'Pgs')"


@pytest.fixture(scope="module")
def dump() -> Dump:
    """The dump; what 0.1.0 printed is respelled and ordered as CHANGELOG.md says."""
    earlier = load(DUMP)
    printed = json.loads(json.dumps(earlier.printed).replace('"neighbours"', '"neighbors"'))
    for line, document in printed.items():
        if line.startswith("sessions show"):
            for run in document["runs"]:
                run["sweeps"].sort(key=lambda sweep: sweep["partition"])
    return replace(earlier, printed=printed)


@pytest.fixture
async def engine(endpoint: Endpoint, db: Database, dump: Dump) -> AsyncIterator[PGS]:
    """Connect to the restored database, in the state that 0.1.0 left it in."""
    ids = await write_database(db, dump)
    rows = [hashes_of(dump, graph, ids) for graph in GRAPHS]
    (commits,) = (row["commits"] for row in nodes_of(dump, "PgsMeta"))
    async with db.driver.session() as session:
        await (await session.run("RETURN 1")).consume()
        (bookmark,) = (await session.last_bookmarks()).raw_values
    # The statement that stores the token is a commit of its own.
    token = change_token(bookmark, commits - 1)
    await db.call(SET_HASHES, {"rows": rows, "token": token}, "write")
    async with engine_on(endpoint) as opened:
        yield opened


def nodes_of(dump: Dump, label: str) -> list[dict[str, Any]]:
    """Properties of all dumped nodes with a label."""
    return [row["properties"] for row in dump.nodes if label in row["labels"]]


def run_of(dump: Dump, session: str) -> str:
    """Id of the one run in a session of the papers."""
    nodes = {row["id"]: row["properties"] for row in dump.nodes}
    (run,) = (
        nodes[row["source"]]["id"]
        for row in dump.relationships
        if row["type"] == "PGS_RAN_IN" and nodes[row["target"]]["uid"] == f"papers/{session}"
    )
    return str(run)


def asked(engine: PGS) -> list[int | None]:
    """Partitions whose reports were paid for since the last call; None is a synthesis."""
    numbers = []
    for model in (engine.sweep_llm, engine.synthesis_llm):
        assert isinstance(model, ScriptedLLM)
        numbers += [prompt.partition for prompt in model.prompts]
        model.prompts.clear()
    return [*sorted(n for n in numbers if n is not None), *(n for n in numbers if n is None)]


def test_hashes_are_computed_as_that_version_did(dump: Dump) -> None:
    stored = {row["id"]: row for row in nodes_of(dump, "PgsGeneration")}
    for graph in GRAPHS:
        found = hashes_of(dump, graph, {row["id"]: row["id"] for row in dump.nodes})
        assert found == {name: stored[found["id"]][name] for name in found}


def without_additions(document: Any) -> Any:
    """The document without the keys that newer releases add."""
    if isinstance(document, list):
        return [without_additions(item) for item in document]
    if isinstance(document, str):
        return VERDICT.sub("", document)
    if not isinstance(document, dict):
        return document
    return {
        key: without_additions(value)
        for key, value in document.items()
        if (key not in ADDED or ADDED[key] not in document)
        and (key != "texts" or not any(name in document for name in TEXTS))
        and key != "redefined"
    }


async def test_commands_print_what_they_printed(
    endpoint: Endpoint, engine: PGS, dump: Dump
) -> None:
    for line, document in dump.printed.items():
        words = line.split()
        if line.startswith("sessions show"):
            words.append("--full")  # as 0.1.0 printed it
        printed = await command(endpoint, *words, **BRAIN)
        assert without_additions(printed) == document, line


async def test_vectors_and_units_are_read_as_stored(engine: PGS, dump: Dump) -> None:
    stored = {row["uid"]: row for row in nodes_of(dump, "PgsPartition")}
    for graph in GRAPHS:
        for part in await engine.partitions(graph):
            assert part.centroid is not None
            assert np.array_equal(part.centroid, stored[part.uid]["centroid"])
    current = (await engine.generation("brain")).id
    units = await engine.units("brain")
    assert len(units) == 3
    for unit in units:
        row = stored[f"{current}:{unit.level}:{unit.id}"]
        assert (unit.size, unit.partitions) == (row["size"], row["partitions"])
        assert unit.keywords == tuple(row["keywords"])
        assert unit.centroid is not None
        assert np.array_equal(unit.centroid, row["centroid"])


async def test_an_unchanged_graph_is_recognized(engine: PGS, db: Database) -> None:
    for graph, knobs in GRAPHS.items():
        quick = await engine.check(graph, scan=False, **knobs)
        assert quick is not None
        assert not quick.committed
        assert not quick.changed
    await db.call("CREATE (:Elsewhere)", {}, "write")
    for graph, knobs in GRAPHS.items():
        scanned = await engine.check(graph, **knobs)
        assert scanned is not None
        assert scanned.committed
        assert not scanned.changed
        quick = await engine.check(graph, scan=False, **knobs)
        assert quick is not None
        assert not quick.committed
    assert (await engine.partition("papers")).reused


async def test_a_change_is_counted_against_what_was_stored(engine: PGS, db: Database) -> None:
    await db.call("MATCH (p:Paper {doi: 'doi/7'}) SET p.abstract = 'Other.'", {}, "write")
    await db.call("MATCH (p:Paper {doi: 'doi/8'}) SET p.score = 99.5", {}, "write")
    await db.call("MATCH (:Paper {doi: 'doi/9'})-[r:CITES]->() DELETE r", {}, "write")
    drift = await engine.check("papers")
    assert drift is not None
    counted = (drift.texts_changed, drift.facts_changed, drift.relationships_changed)
    assert counted == (1, 1, 3)
    assert (drift.nodes_added, drift.nodes_removed) == (0, 0)


async def test_the_next_job_cleans_up_after_a_killed_one(
    endpoint: Endpoint, engine: PGS, db: Database, dump: Dump
) -> None:
    assert await count(db, "(x:PgsGeneration {status: 'building'})") == 1
    (running,) = (row for row in nodes_of(dump, "PgsJob") if row["outcome"] == "running")
    done = await command(endpoint, "repartition", "--graph", "brain", "--if-changed", **BRAIN)
    assert done["jobs"][0]["outcome"] == "unchanged"
    assert await count(db, "(x:PgsGeneration) WHERE x.status <> 'complete'") == 0
    shown = await command(endpoint, "jobs", "show", running["id"])
    assert shown["outcome"] == "killed"


async def test_the_next_load_cleans_up_after_a_killed_one(
    endpoint: Endpoint, engine: PGS, db: Database, tmp_path: Path
) -> None:
    file = tmp_path / "brain.json"
    file.write_text(json.dumps(brain_file()), encoding="utf-8")
    done = await command(endpoint, "load", str(file), "--graph", "brain")
    assert done["unchanged"]
    assert await count(db, "(x:PgsStaged)") == 0
    done = await command(endpoint, *load_of(tmp_path, 5))
    assert (done["kept"], done["added"], done["removed"]) == (4, 1, 0)


async def test_resumed_runs_pay_for_nothing_twice(engine: PGS, dump: Dump) -> None:
    rest = {
        "stopped": [2, 3, None],
        "partial": [1, 2, None],
        "failed": [None],
        "late": [1, 2, 3, None],
        "killed": [3, None],
    }
    before = {row["id"]: row.get("calls") or 0 for row in nodes_of(dump, "PgsRun")}
    for session, expected in rest.items():
        run = run_of(dump, session)
        answer = await engine.resume(run, max_calls=10, run_timeout_s=60.0)
        paid = asked(engine)
        assert paid == expected, session
        assert answer.run == run
        assert answer.coverage.exhausted
        assert not answer.partial
        assert answer.usage.calls == before[run] + len(paid)


async def test_a_finished_run_is_found_by_its_key(engine: PGS, dump: Dump) -> None:
    again = await engine.execute(QUESTION, graph="papers", full_sweep=True, idempotency_key="first")
    assert asked(engine) == []
    assert again.run == run_of(dump, "default")
    assert dump.printed[f"show {again.run}"]["answer"] == without_additions(again.text)


async def test_stored_replies_are_used(engine: PGS) -> None:
    asking: dict[str, Any] = {"graph": "papers", "full_sweep": True, "session_id": "new"}
    answer = await engine.execute("What is stopped?", **asking)
    assert asked(engine) == [2, 3, None]
    assert answer.usage.cached == 1


async def test_reports_without_an_answer_are_part_of_the_next_one(engine: PGS) -> None:
    for session, reports, paid in (("failed", 3, [None]), ("killed", 2, [3, None])):
        answer = await engine.execute(
            "And now?", graph="papers", session_id=session, mode="continue"
        )
        assert asked(engine) == paid, session
        assert any(f"{reports} reports of earlier runs" in warning for warning in answer.warnings)
        assert answer.coverage.exhausted


async def test_coverage_and_answers_survive_the_next_partitioning(
    endpoint: Endpoint, engine: PGS, dump: Dump
) -> None:
    lineages = {part.lineage for part in await engine.partitions("papers")}
    listed = await command(endpoint, "sessions", "list", "--graph", "papers")
    made = await engine.partition("papers", force=True)
    assert {part.lineage for part in made.partitions} == lineages
    after = await command(endpoint, "sessions", "list", "--graph", "papers")
    read = {each["id"]: each["coverage"]["nodes_read"] for each in listed["sessions"]}
    assert {each["id"]: each["coverage"]["nodes_read"] for each in after["sessions"]} == read
    for session in ("default", "partial"):
        line = f"show {run_of(dump, session)}"
        shown = await command(endpoint, *line.split())
        assert without_additions(shown) == dump.printed[line]


async def test_the_purge_takes_everything_out(engine: PGS, db: Database, dump: Dump) -> None:
    # What a killed load left behind goes with the rest.
    await db.call("MATCH (:PgsStaged)-[r]->() DELETE r", {}, "write")
    before = await checksum(db)
    purged = await engine.purge()
    ours = [row for row in dump.nodes if row["labels"][0].startswith("Pgs")]
    types = [row for row in dump.relationships if row["type"].startswith("PGS_")]
    assert (purged.nodes, purged.relationships) == (len(ours), len(types))
    assert await count(db, LEFT) == 0
    assert await count(db, "()-[x]->() WHERE type(x) STARTS WITH 'PGS_'") == 0
    assert await checksum(db) == before
    left = (await read_database(db, "")).schema
    assert [each for each in left if "`pgs_" in each.lower()] == []
    # The indexes of entities stay in the test database, like the key of loaded nodes.
    stayed = [each for each in left if "`ingested_" not in each]
    assert len(stayed) == len([each for each in dump.schema if "`pgs_" not in each.lower()])


async def test_the_current_version_writes_the_same_names(
    endpoint: Endpoint, db: Database, dump: Dump, tmp_path: Path
) -> None:
    async with written_state(endpoint, db, tmp_path):
        written = await read_database(db, "")
    await empty(db)
    assert names_in(dump) - names_in(written) == NOT_WRITTEN


def names_in(dump: Dump) -> set[tuple[str, str, str]]:
    """Every label or type with its properties, and the types of their values."""
    found = set()
    for row in (*dump.nodes, *dump.relationships):
        owner = row["type"] if "type" in row else "/".join(sorted(row["labels"]))
        found.add((owner, "", ""))
        found |= {(owner, name, kind_of(value)) for name, value in row["properties"].items()}
    return found


def kind_of(value: Any) -> str:
    """Name the type of a stored value."""
    if isinstance(value, list):
        return f"list of {kind_of(value[0])}" if value else "list"
    return type(value).__name__
