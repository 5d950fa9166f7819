"""Runs ``pgs`` as forks of one interpreter that has already imported the libraries and the engine.

Starting Python and the imports of ``pgs`` takes two seconds of a core, and stories start ``pgs``
many times. A fork has its own id, signals, environment, streams, and exit code. It imports the
commands itself, and ends as any interpreter does. A test of progress on a terminal starts ``pgs``
without a fork.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio import StreamReader, StreamReaderProtocol, Task
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# An order arrives with four descriptors: input, output, errors, and the pipe for reports. A fork in
# between waits for the process, so that the interpreter can take the next order.
SCRIPT = """
import gc, json, os, runpy, signal, socket, sys, warnings
from contextlib import suppress
import graphdatascience, neo4j, openai, rich.live, typer
import pgs_neo4j.engine.questions, pgs_neo4j.database.gds.runner
from pgs_neo4j.engine import PGS

def fork():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of libraries
        return os.fork()

def serve(orders):
    while True:
        text, descriptors, _, _ = socket.recv_fds(orders, 2**20, 4)
        if not text:
            return None
        if fork():
            for each in descriptors:
                os.close(each)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        child = fork()
        if not child:
            return json.loads(text), descriptors
        for each in descriptors[:3]:
            os.close(each)
        os.write(descriptors[3], b"%d\\n" % child)
        os.write(descriptors[3], b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os._exit(0)

def reap(*_):
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass

gc.freeze()
signal.signal(signal.SIGCHLD, reap)
with socket.socket(fileno=int(sys.argv[1])) as orders:
    taken = serve(orders)
if taken:
    order, descriptors = taken
    for number, each in enumerate(descriptors):
        if number < 3:
            os.dup2(each, number)
        os.close(each)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv[1:] = order["arguments"]
    runpy.run_module("pgs_neo4j", run_name="__main__", alter_sys=True)
"""


@dataclass(slots=True)
class Fork:
    """A process that runs ``pgs``, with those parts of asyncio's Process that tests use."""

    pid: int
    stdout: StreamReader | None
    stderr: StreamReader | None
    ending: Task[int]

    @property
    def returncode(self) -> int | None:
        """The exit code; None while the process runs."""
        return self.ending.result() if self.ending.done() else None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if not self.ending.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        return await asyncio.shield(self.ending)

    async def communicate(self) -> tuple[bytes, bytes]:
        """Wait until the process has ended, and return what it printed."""
        out, err = await asyncio.gather(_rest(self.stdout), _rest(self.stderr))
        await self.wait()
        return out, err


@dataclass(frozen=True, slots=True)
class Forks:
    """The interpreter that is forked."""

    orders: socket.socket

    async def start(
        self, *arguments: str, cwd: Path, env: Mapping[str, str], stdout: int = PIPE
    ) -> Fork:
        """Start ``pgs`` with its arguments, in a folder, with its own environment."""
        order = {"arguments": arguments, "folder": str(cwd), "environment": dict(env)}
        out, out_end = os.pipe() if stdout == PIPE else (None, os.dup(stdout))
        err, err_end = os.pipe()
        report, report_end = os.pipe()
        given = [os.open(os.devnull, os.O_RDONLY), out_end, err_end, report_end]
        try:
            socket.send_fds(self.orders, [json.dumps(order).encode()], given)
        finally:
            for each in given:
                os.close(each)
        reported = await _reader(report)
        pid = int(await reported.readline())
        ending = asyncio.create_task(_ended(reported))
        return Fork(
            pid, await _reader(out) if out is not None else None, await _reader(err), ending
        )


@asynccontextmanager
async def forking(environment: Mapping[str, str]) -> AsyncIterator[Forks]:
    """Yield an interpreter to fork, and end it with the block."""
    orders, taken = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with orders:
        with taken:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-W", "error", "-c", SCRIPT, str(taken.fileno())),
                env={**environment, "PYTHONPATH": str(ROOT)},
                stdin=DEVNULL,
                pass_fds=[taken.fileno()],
            )
        yield Forks(orders)
    assert await process.wait() == 0


async def _reader(descriptor: int) -> StreamReader:
    reader = StreamReader()
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: StreamReaderProtocol(reader), pipe)
    return reader


async def _rest(reader: StreamReader | None) -> bytes:
    return await reader.read() if reader else b""


async def _ended(reported: StreamReader) -> int:
    status = await reported.readline()
    await reported.read()  # reading to its end closes the pipe
    return int(status)
