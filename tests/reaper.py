"""Ends what a killed test run leaves behind: local servers, commands, and browsers.

Each process that runs tests starts a reaper. The reaper waits until its parent has ended, in
whatever way, and then ends every process that was started under it. Without a reaper, local servers
would outlive a killed pytest, because they are detached by design.

A process belongs to the run if it inherited the run's environment variable, or if it serves a
database in the run's temporary folder, because local servers get their own environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

VARIABLE = "PGS_TEST_RUN"
POLL_S = 0.5
ENDING_S = 20.0  # for processes that tests have told to end without waiting for them
# A command that is being killed may still start a server. So it is not enough to find nothing once.
QUIET_LOOKS = 4


@contextmanager
def reaping(folder: Path) -> Iterator[None]:
    """Keep a reaper at hand while tests run; their temporary files are in ``folder``.

    A run that is not killed must end its processes itself. Raises AssertionError if any are left.
    """
    os.environ[VARIABLE] = run = uuid.uuid4().hex
    parent = os.getppid()
    folder = folder.resolve()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.reaper", str(os.getpid()), run, str(folder)],
        cwd=Path(__file__).resolve().parents[1],
        env={name: value for name, value in os.environ.items() if name != VARIABLE},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal ends pytest, and must not end the reaper
    ) as reaper:
        try:
            yield
            deadline = time.monotonic() + ENDING_S
            while left := find_processes(run, folder):
                if time.monotonic() > deadline:
                    reap(run, folder)
                    raise AssertionError(f"tests left processes behind: {left}")
                time.sleep(POLL_S)
        finally:
            if os.getppid() != parent:  # a killed pytest deletes none of its workers' folders
                reap(run, folder)
            reaper.terminate()  # only now, because this process may be killed while it waits


def find_processes(run: str, folder: Path) -> list[psutil.Process]:
    """Return the living processes of a run, by its variable or its temporary folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and _belongs(process, run, folder):
                found.append(process)
        except (psutil.Error, OSError):
            continue  # the process has just ended, or belongs to another user
    return found


def _belongs(process: psutil.Process, run: str, folder: Path) -> bool:
    environment, inside = process.environ(), f"{folder}{os.sep}"
    return (
        environment.get(VARIABLE) == run
        or environment.get("NEO4J_HOME", "").startswith(inside)  # Neo4j's offline tool
        or any(each.startswith(f"-Dpgs.data.dir={inside}") for each in process.cmdline())
    )


def reap(run: str, folder: Path) -> None:
    """End all processes of a run, and delete its databases."""
    # Imported here, because a reaper starts with each process of tests, and rarely gets here.
    from pgs_neo4j.database.local.options import MARKER

    quiet = 0
    while quiet < QUIET_LOOKS:
        found = find_processes(run, folder)
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        quiet = 0 if found else quiet + 1
        time.sleep(POLL_S)
    for marker in list(folder.rglob(MARKER)):
        shutil.rmtree(marker.parent, ignore_errors=True)


def main(parent: int, run: str, folder: Path) -> None:
    """Wait until ``parent`` has ended, and reap what it left."""
    while os.getppid() == parent:
        time.sleep(POLL_S)
    reap(run, folder)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
