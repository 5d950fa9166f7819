"""Ctrl-C at any moment ends ``pgs`` without a traceback, also while its modules load."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys

class Interrupt:
    awaited = sys.argv.pop(1)

    def find_spec(self, name, path=None, target=None):
        if name == self.awaited:
            self.awaited = ""
            os.kill(os.getpid(), signal.SIGINT)

from pgs_neo4j.cli import main
sys.meta_path.insert(0, Interrupt())
main()
"""
"""Runs pgs, which gets SIGINT as it is about to import the module that is named first."""


@pytest.mark.parametrize(
    "module",
    ["pgs_neo4j.cli.app", "pgs_neo4j.cli.output", "pgs_neo4j.cli.run", "pgs_neo4j.engine", "neo4j"],
)
def test_an_interrupt_while_a_module_loads_ends_it_without_a_traceback(module: str) -> None:
    settings = {"PGS_NEO4J_URI": "bolt://127.0.0.1:1", "PGS_NEO4J_PASSWORD": "x"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, module, "documents", "list", "--graph", "x"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (130, -signal.SIGINT), done.stderr
