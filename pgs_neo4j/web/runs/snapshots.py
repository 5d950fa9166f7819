"""What the database knows of a run, for those who come late."""

from __future__ import annotations

from pgs_neo4j.engine import PGS, StoredRun
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.runs.told import report_link

TOLD = (
    *("question", "mode", "status", "started_at", "finished_at", "seconds", "error", "thesis"),
    *("nodes_read", "nodes_unproven", "model", "cost", "outcome", "calls"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
)
REPORTED = ("accepted", "partial")
"""How sweeps end that have a report."""
SWEEP = (
    "partition",
    "status",
    "nodes",
    "nodes_read",
    "nodes_unproven",
    "passes",
    "seconds",
    "findings",
)


async def run_snapshot(pgs: PGS, stored: StoredRun, caller: Caller) -> Json:
    """Return a recorded run with its sweeps, as far as it is."""
    runs = await pgs.sessions.runs(stored.session, stored.graph)
    shown = next((one for one in runs if one.get("id") == stored.id), {})
    facts = {name: plain_data(stored.properties.get(name)) for name in TOLD}
    return {
        "run": stored.id,
        "graph": stored.graph,
        "session": caller.own_session(stored.session),
        "generation": stored.generation,
        "state": "silent" if stored.silent else stored.status,
        "answered": bool(stored.properties.get("details")),
        **facts,
        "sweeps": [_sweep(stored.id, sweep) for sweep in shown.get("sweeps") or ()],
    }


def _sweep(run: str, sweep: Json) -> Json:
    """Return a sweep in short, with the link to its report if there is one."""
    told: Json = {name: plain_data(sweep.get(name)) for name in SWEEP if name in sweep}
    reported = sweep.get("status") in REPORTED
    return told | {"report": report_link(run, sweep["partition"]) if reported else None}
