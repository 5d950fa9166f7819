"""What another program wrote into the nodes of pgs is an error that says so, and never a fault."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import DatabaseError
from tests import typed_rows
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on_papers
from tests.openapi import operations, send
from tests.serving import events, served

LABELS = ("PgsGeneration", "PgsSession", "PgsSweep", "PgsFlag", "PgsPartition", "PgsMeta")
"""Those that many requests read."""
APART = 24
"""One of so many pairs of a property and a poison is tried."""
POISONS = (
    "null", "''", "'[]'", "'{\"x\": [null]}'", "7", "-1", "9223372036854775807", "0.0 / 0.0",
    "true", "[]", "[1.5, 2.5]", "['x']", "point({x: 1, y: 2})", "date('2026-01-01')",
    "reduce(s = 'x', i IN range(1, 20) | s + s)",
)  # fmt: skip
READ_BY_POST = {"/api/plan", "/api/search", "/api/search/plan"}


def reads() -> list[tuple[str, str, Any]]:
    """Every request that reads."""
    return [
        (method, path, told)
        for method, path, told in operations()
        if (method == "get" or path in READ_BY_POST) and not path.endswith("/events")
    ]


async def read_all(owner: httpx2.AsyncClient, values: dict[str, Any]) -> Counter[str]:
    """Read everything; returns how often each code was answered, and each fault by its request."""
    codes: Counter[str] = Counter()
    for method, path, told in reads():
        answer = await send(owner, method, path, told, values)
        code = answer.json()["code"] if answer.status_code >= 400 else "ok"
        codes[f"{method} {path}" if answer.status_code == 500 else code] += 1
    return codes


async def poisoned(db: Database, label: str, name: str, poison: str) -> bool:
    """Set a property of all nodes of a label, which keep the former value; False if refused."""
    try:
        await alter(db, f"MATCH (n:{label}) SET n.kept = n.{name} SET n.{name} = {poison}")
    except DatabaseError:
        return False
    return True


@pytest.mark.parametrize("label", LABELS)
async def test_no_property_that_another_program_wrote_is_a_fault(
    label: str,
    endpoint: Endpoint,
    db: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(typed_rows, "MOST", 0)  # rows are not what their headers say
    async with (
        engine_on_papers(endpoint, db) as pgs,
        served(pgs) as server,
        server.owner() as owner,
    ):
        await pgs.partitions.build("papers")
        asked = {"question": "What does fact5 say?", "full_sweep": True}
        run = (await owner.post("/api/runs", json=asked)).json()
        await events(owner, run["events"])
        job = (await owner.post("/api/jobs", json={"graph": "papers"})).json()
        await events(owner, job["events"])
        generations = [one.id for one in await pgs.partitions.generations("papers")]
        member = (await pgs.browse.members("papers", 1)).members[0]
        values = {
            "graph": "papers", "run": run["run"], "session": "default", "partition": 1,
            "node": member.element_id, "job": job["record"], "kind": "json", "q": "fact5",
            "question": "What does fact5 say?", "before": generations[-1],
            "after": generations[0], "id": "x", "live": job["job"],
        }  # fmt: skip
        whole = await read_all(owner, values)
        assert whole["ok"] > 20, whole
        (found,) = await fetch(
            db, f"MATCH (n:{label}) WITH n, keys(n) AS names UNWIND names AS name "
            "RETURN collect(DISTINCT name) AS names"
        )  # fmt: skip
        assert len(found["names"]) > 2
        faults: list[str] = []
        refused = tried = 0
        for place, name in enumerate(sorted(found["names"])):
            for number, poison in enumerate(POISONS):
                if (7 * place + number) % APART:
                    continue
                if not await poisoned(db, label, name, poison):
                    continue  # a constraint keeps the value
                codes = await read_all(owner, values)
                await alter(db, f"MATCH (n:{label}) SET n.{name} = n.kept REMOVE n.kept")
                faults += [f"{name} = {poison}: {code}" for code in codes if " " in code]
                refused, tried = refused + codes["stored_data"], tried + 1
        assert faults == []
        assert await read_all(owner, values) == whole  # all is as it was
        assert tried > 2
        assert refused > 0
