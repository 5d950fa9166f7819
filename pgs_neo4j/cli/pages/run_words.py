"""Runs in words: their list, and how to resume one. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.cli.pages.text import fitted, moment
from pgs_neo4j.text.shown import counted, one_line, unproven_note

if TYPE_CHECKING:
    from pgs_neo4j.engine import RunInfo

WHOLE = "complete"
RUNNING = "running"


def resume_command(run: str) -> str:
    """Return the command that resumes a run."""
    return f"pgs resume {shlex.quote(one_line(run))}"


def next_step(run: str, status: str) -> list[str]:
    """Return how to resume a run, as lines.

    A complete run has none.
    """
    if status == WHOLE:
        return []
    if status == RUNNING:
        return [
            "",
            "It is in progress. If its process was killed, resume it with:",
            f"  {resume_command(run)}",
        ]
    return ["", "Resume it with:", f"  {resume_command(run)}"]


def listed(infos: Sequence[RunInfo], width: int) -> list[str]:
    """Return runs in two lines each: what became of it, and its question."""
    return [line for info in infos for line in (_head(info), _question(info, width))]


def _head(run: RunInfo) -> str:
    status = "running (silent)" if run.silent else run.status
    parts = [run.id, moment(run.started_at), status]
    if run.nodes_shown is not None:
        parts.append(f"{counted(run.nodes_shown, 'node')} shown")
    elif run.nodes_read is not None:
        unproven = unproven_note(run.nodes_unproven or 0)
        parts.append(f"{counted(run.nodes_read, 'node')} read{unproven}")
    if run.outcome is not None:
        parts.append(run.outcome)
    parts.append(f"graph {run.graph}, session {run.session}")
    return "  ".join(map(one_line, parts))


def _question(run: RunInfo, width: int) -> str:
    return f"  {fitted(run.question, width - 2)}"
