"""Requests of every form that the description of the API allows, and of some that it does not."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import events, served

EXAMPLES = int(os.environ.get("PGS_TEST_REQUESTS", "12"))  # of each operation
# A stream ends with its run, and without the cookie nothing is reached.
SKIPPED = ("/events", "/logout")


def requests(base: str, cookie: str, known: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Send requests to every operation; yields their operations, statuses, and answers.

    Every second one is about what is known to exist.
    """
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings

    headers = {"Cookie": cookie, "Origin": base}
    schema = schemathesis.openapi.from_url(f"{base}/api/openapi.json", headers=headers)
    sent: list[tuple[str, int, str]] = []
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path.endswith(SKIPPED):
            continue

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            if len(sent) % 2:
                there = {name: known[name] for name in case.path_parameters if name in known}
                case.path_parameters.update(there)
            case.headers.pop("Authorization", None)  # the cookie is good, and a made-up token not
            answer = case.call(headers=headers, timeout=60)
            sent.append((case.operation.label, answer.status_code, answer.text[:300]))

        send()
        yield from sent
        sent.clear()


@pytest.mark.thorough
async def test_no_request_makes_the_server_fail(endpoint: Endpoint, db: Database) -> None:
    gc.collect()  # Python 3.11's parser fails if a task is destroyed while it parses
    # All of it, and in this thread: pytest parses its modules, and only one thread may do so.
    for module in ("schemathesis", "schemathesis.specs.openapi.schemas"):
        pytest.importorskip(module, reason="schemathesis is not installed (extra fuzz)")
    async with (
        engine_on_papers(endpoint, db) as pgs,
        served(pgs) as server,
        server.owner() as owner,
    ):
        await pgs.partition("papers")
        cookie = "; ".join(f"{one.name}={one.value}" for one in owner.cookies.jar)
        run = (await owner.post("/api/runs", json={"question": "Why?"})).json()
        await events(owner, run["events"])
        members = (await owner.get("/api/graphs/papers/partitions/1/members")).json()["members"]
        known = {
            "graph": "papers", "run": run["run"], "session": "default", "partition": 1,
            "node": members[0]["element_id"],
        }  # fmt: skip
        sent = await asyncio.to_thread(lambda: list(requests(server.base, cookie, known)))
        failed = [one for one in sent if one[1] >= 500 and one[1] != 501]
        assert failed == []
        reached = {operation for operation, status, _ in sent if status < 300}
        assert len(reached) > 25, reached
        assert (await owner.get("/api/health")).status_code == 200
