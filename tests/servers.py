"""Settings for the servers of the tests, which plan each statement once and compile little.

``PGS_TEST_BRIEF=1`` is for a run of a minute or two: its server compiles as little as a server that
a single test starts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from pgs_neo4j.database.local import runtime
from pgs_neo4j.database.local.lockfile import DEFAULT

# The release that the tests start.
RELEASE = os.environ.get("PGS_TEST_RELEASE") or DEFAULT

# A plan stays in use however the data changes: tests fill and empty the database all the time, and
# a plan for the counts of one test is good enough for the next. Lists and texts of different sizes
# share a plan.
SETTINGS = {
    "dbms.cypher.min_replan_interval": "1h",
    "dbms.cypher.statistics_divergence_threshold": "1.0",
    "internal.cypher.use_parameter_size": "false",
}
# Checking the bytecode of Neo4j's own jars takes a seventh of a start and a first question.
FLAGS = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
# For a server that lives for a minute, the second compiler costs more time than its code saves.
BRIEF = ("-XX:TieredStopAtLevel=1",)
# For a server that lives for minutes, it pays at eight times the default thresholds.
LASTING = (
    "-XX:Tier4InvocationThreshold=40000",
    "-XX:Tier4MinInvocationThreshold=5000",
    "-XX:Tier4CompileThreshold=120000",
    "-XX:Tier4BackEdgeThreshold=320000",
)


def tune(patch: pytest.MonkeyPatch, *, lasting: bool = False) -> None:
    """Make the local servers that this process starts use the settings and flags above.

    ``lasting`` servers serve many tests.
    """
    conf, command, tool = (
        runtime.neo4j_conf,
        runtime.server_command,
        runtime.admin_command,
    )
    brief = not lasting or "PGS_TEST_BRIEF" in os.environ
    flags = FLAGS + (BRIEF if brief else LASTING)
    patch.setattr(runtime, "neo4j_conf", lambda *args: conf(*args) + _lines())
    patch.setattr(runtime, "server_command", lambda *args: _flagged(command(*args), flags))
    patch.setattr(runtime, "admin_command", lambda *args: _flagged(tool(*args), FLAGS + BRIEF))


def container_environment() -> dict[str, str]:
    """Return the settings as variables: underscores are doubled, and dots become underscores."""
    names = {name: name.replace("_", "__").replace(".", "_") for name in SETTINGS}
    return {f"NEO4J_{names[name]}": value for name, value in SETTINGS.items()} | {
        "NEO4J_server_jvm_additional": " ".join(FLAGS)
    }


def _lines() -> str:
    return "".join(f"{name}={value}\n" for name, value in SETTINGS.items())


def _flagged(command: list[str], flags: Sequence[str]) -> list[str]:
    return [command[0], *flags, *command[1:]]
