"""Schemathesis with all its checks: requests that the description of the API allows, and others."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import entry, events, served

CONFIG = Path(__file__).parents[1] / "suites" / "schemathesis.toml"
EXAMPLES = os.environ.get("PGS_TEST_REQUESTS", "5")  # of each operation and phase
PRICES = {"scripted": {"input_price": 3.0, "output_price": 7.0}}
LEAST = 1500
"""Requests of both runs, so that a suite that tests nothing is no success."""


def send_requests(base: str, config: Path, *options: str) -> tuple[int, str]:
    """Send requests of all forms to a server; return how many, and the report of what failed.

    Streams end with their runs, so they are not read, and to log out would end all of it.
    """
    command = (
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
        *("run", f"{base}/api/openapi.json", "--header", "Authorization: Bearer pgs_chief"),
        *("--checks", "all", "--max-examples", EXAMPLES, "--generation-deterministic"),
        *("--exclude-path-regex", "(/events|/logout)$", "--continue-on-failure", "--no-color"),
        *("--request-timeout", "60", *options),
    )
    done = subprocess.run(
        command, cwd=config.parent, capture_output=True, text=True, timeout=400, check=False
    )
    told = done.stdout + done.stderr
    found = re.search(r"([\d,]+) generated", told)
    return (int(found[1].replace(",", "")) if found else 0), told if done.returncode else ""


def configured(folder: Path, **known: str) -> Path:
    """Write the configuration of the suite, with what each name in a path stands for."""
    lines = [f'"path.{name}" = {json.dumps(value)}' for name, value in known.items()]
    path = folder / f"{len(known)}.toml"
    path.write_text("\n".join(("[parameters]", *lines, "", CONFIG.read_text())))
    return path


@pytest.mark.thorough
async def test_no_check_of_schemathesis_fails(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    pytest.importorskip("schemathesis", reason="schemathesis is not installed (extra fuzz)")
    tokens = [entry("chief", role="operator")]
    async with (
        engine_on_papers(endpoint, db, token=tokens, models=PRICES) as pgs,
        served(pgs) as server,
        server.client("pgs_chief") as chief,
    ):
        await pgs.partitions.build("papers")
        run = (await chief.post("/api/runs", json={"question": "Why?"})).json()
        await events(chief, run["events"])
        members = (await chief.get("/api/graphs/papers/partitions/1/members")).json()["members"]
        known = {"graph": "papers", "run": run["run"], "node": members[0]["element_id"]}
        sent = 0
        for config, *options in (
            (configured(tmp_path),),
            (configured(tmp_path, partition="1", **known), "--phases", "fuzzing"),
        ):
            more, failed = await asyncio.to_thread(send_requests, server.base, config, *options)
            assert not failed, failed
            sent += more
        assert sent > LEAST
        assert (await chief.get("/api/health")).status_code == 200
