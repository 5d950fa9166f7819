"""How to resume an unfinished run, in words. Pure."""

from __future__ import annotations

import shlex

from pgs_neo4j.text.shown import one_line

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
