"""Makes the ids of all nodes that runs and sessions store."""

from __future__ import annotations

import json
import re
from uuid import uuid4

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.scope import Scope

_RUN_ID = re.compile(r"r[0-9a-f]{12}")


def new_run_id() -> str:
    """Return a new random run id."""
    return f"r{uuid4().hex[:12]}"


def is_run_id(text: str) -> bool:
    """Return whether a text has the form of a complete run id."""
    return _RUN_ID.fullmatch(text) is not None


def check_new_id(run_id: str | None) -> str | None:
    """Return the id that a caller chose for a new run. Raises UsageError if its form is wrong."""
    if run_id is not None and not _RUN_ID.fullmatch(run_id):
        raise UsageError(f"{run_id!r} is no id of a run; pgs.runs.new_id() returns one")
    return run_id


def session_uid(scope: Scope, graph: str, session: str) -> str:
    """Return the id of a session from its graph and its name."""
    return f"{scope.qualify(graph)}/{session}"


def idempotency_uid(scope: Scope, graph: str, session: str, key: str | None) -> str:
    """Return an id for an idempotency key within its session; empty without a key.

    It is a JSON list, because names of sessions and keys may contain any separator.
    """
    return json.dumps([scope.qualify(graph), session, key], ensure_ascii=False) if key else ""


def sweep_id(run_id: str, partition_id: int) -> str:
    """Return the id of a run's sweep of a partition."""
    return f"{run_id}:{partition_id}"


def finding_id(run_id: str, partition_id: int, place: int) -> str:
    """Return the id of a finding.

    ``place`` counts from 0 within its report.
    """
    return f"{sweep_id(run_id, partition_id)}:f{place}"


def flag_id(run_id: str, partition_id: int, place: int) -> str:
    """Return the id of a flag.

    ``place`` counts from 0 within its report.
    """
    return f"{sweep_id(run_id, partition_id)}:o{place}"


def absence_id(run_id: str, partition_id: int, place: int) -> str:
    """Return the id of an absence.

    ``place`` counts from 0 within its report.
    """
    return f"{sweep_id(run_id, partition_id)}:a{place}"


def thesis_id(run_id: str) -> str:
    """Return the id of a run's thesis."""
    return f"{run_id}:thesis"


def connection_id(run_id: str, place: int) -> str:
    """Return the id of a connection that the synthesis states."""
    return f"{run_id}:c{place}"


def stated_convergence_id(run_id: str, place: int) -> str:
    """Return the id of a convergence that the synthesis states."""
    return f"{run_id}:v{place}"


def checked_convergence_id(run_id: str, place: int) -> str:
    """Return the id of a convergence that the crosscheck found."""
    return f"{run_id}:w{place}"


def claim_id(run_id: str, place: int) -> str:
    """Return the id of a claim that an answer from a search makes."""
    return f"{run_id}:f{place}"
