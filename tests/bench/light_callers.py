"""Clients on bare sockets, which cost next to nothing, so that they time the server alone.

    python -m tests.bench.light_callers BASE --clients 50 --question "Why?" --graph soak

All connections are open before all questions are sent at once. The one-time token of the link
stands on stdin. The program prints one JSON document: the seconds from each question to the answer
that accepted it and to the first event of its run, and the CPU time of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any
from urllib.parse import urlsplit

CALM_S = 0.5  # after the connections were opened


@dataclass(frozen=True, slots=True)
class Answered:
    """The head of an answer, and its body if that is JSON."""

    status: int
    headers: dict[str, str]
    body: Any = None


@dataclass(frozen=True, slots=True)
class LightCaller:
    """One connection to a server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    host: str

    async def send(self, method: str, path: str, cookie: str, body: object = None) -> Answered:
        """Send a request, and read the answer; of a stream, only the head."""
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", f"Cookie: {cookie}"]
        if data:
            lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        first, *rest = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = (line.partition(": ") for line in rest if line)
        headers = {name.lower(): value for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        told = await self.reader.readexactly(length)
        return Answered(int(first.split()[1]), headers, json.loads(told) if told else None)

    async def ask(self, cookie: str, body: object) -> tuple[float, float]:
        """Ask; return the seconds to the accepting answer, and to the first event."""
        began = perf_counter()
        accepted = await self.send("POST", "/api/runs", cookie, body)
        assert accepted.status == 202, accepted
        answered = perf_counter() - began
        await self.send("GET", accepted.body["events"], cookie)
        await self.reader.readuntil(b"id: 1\n")
        return answered, perf_counter() - began


async def opened(base: str) -> LightCaller:
    """A connection to a server."""
    address = urlsplit(base)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    return LightCaller(reader, writer, address.netloc)


async def called(options: argparse.Namespace, token: str) -> dict[str, Any]:
    """Log in, open all connections, and ask all questions at once."""
    callers = [await opened(options.base) for _ in range(options.clients)]
    login = await callers[0].send("POST", "/api/login", "", {"token": token})
    cookie = login.headers["set-cookie"].partition(";")[0]
    await asyncio.sleep(CALM_S)
    used = process_time()
    bodies = [
        {"question": f"{options.question} ({n})", "graph": options.graph, "session": f"light-{n}"}
        for n in range(options.clients)
    ]
    pairs = zip(callers, bodies, strict=True)
    seconds = await asyncio.gather(*(one.ask(cookie, body) for one, body in pairs))
    return {
        "accepted_s": [accepted for accepted, _ in seconds],
        "first_s": [first for _, first in seconds],
        "cpu_s": process_time() - used,
        "faults": {},
    }


def main() -> int:
    """Call a server, and print how long it took."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.light_callers")
    parser.add_argument("base")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--graph", required=True)
    parser.add_argument("--question", required=True)
    options = parser.parse_args()
    token = sys.stdin.readline().strip()
    sys.stdout.write(json.dumps(asyncio.run(called(options, token))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
