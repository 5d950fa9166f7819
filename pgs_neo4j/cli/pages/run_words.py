"""How a run that did not end well can go on, in words. Pure."""

from __future__ import annotations

import shlex

from pgs_neo4j.text.shown import one_line

WHOLE = "complete"
RUNNING = "running"


def resuming(run: str) -> str:
    """The command that goes on with a run."""
    return f"pgs resume {shlex.quote(one_line(run))}"


def going_on(run: str, status: str) -> list[str]:
    """What to try next with a run of a status, after an empty line; nothing when it is complete."""
    if status == WHOLE:
        return []
    if status == RUNNING:
        return [
            "",
            "It is going on; or, if its process was killed, try next:",
            f"  {resuming(run)}",
        ]
    return ["", "Try next, to go on with it:", f"  {resuming(run)}"]
