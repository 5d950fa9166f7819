"""Clients of a server, in a process of their own, so that they cost the server nothing.

    python -m tests.bench.callers BASE --clients 50 --minutes 3 --question "Why?" --graph soak

The one-time token of the server's link stands on stdin. The program prints one JSON document: how
long the first events took, how many questions were answered, and what was wrong with the streams.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from time import perf_counter
from typing import Any

import httpx2

from tests.serving import Told, events

LAST = ("answered", "failed", "cancelled")
CUT_SHARE = 0.2  # of the questions, whose streams are cut again and again
MOST_BETWEEN = 12  # events between two cuts


@dataclass(slots=True)
class Heard:
    """What the clients of a server met."""

    first_s: list[float] = field(default_factory=list)
    answered: int = 0
    events: int = 0
    cuts: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def judge(self, listed: Sequence[Told]) -> None:
        """Count the events of one run, and what is wrong with them."""
        self.events += len(listed)
        for fault in faults_of(listed):
            self.faults[fault] += 1
        self.answered += bool(listed) and listed[-1].name == "answered"


def faults_of(listed: Sequence[Told]) -> list[str]:
    """What is wrong with the events of one run: gaps, repeats, another end than an answer."""
    ids = [one.id for one in listed]
    faults = ["a repeat"] * (len(ids) - len(set(ids)))
    if sorted(set(ids)) != list(range(1, len(set(ids)) + 1)):
        faults.append("a gap")
    if not listed or listed[-1].name != "answered":
        faults.append(f"ended by {listed[-1].name if listed else 'nothing'}")
    return faults


@dataclass(slots=True)
class Callers:
    """Clients with one login, and what they heard."""

    client: httpx2.AsyncClient
    graph: str
    question: str
    heard: Heard = field(default_factory=Heard)
    numbers: count[int] = field(default_factory=count)

    async def ask(self, draw: Random | None = None) -> None:
        """Ask a question, and read its events to their end; with ``draw``, over cut streams."""
        number, began = next(self.numbers), perf_counter()
        body = {
            "question": f"{self.question} ({number})",
            "graph": self.graph,
            "session": f"bench-{number}",
        }
        answer = await self.client.post("/api/runs", json=body)
        if answer.status_code != 202:
            self.heard.faults[f"HTTP {answer.status_code}: {answer.text[:100]}"] += 1
            return
        way = answer.json()["events"]
        listed = await events(self.client, way, until=lambda told: told.id >= 1)
        self.heard.first_s.append(perf_counter() - began)
        while not listed or listed[-1].name not in LAST:
            listed += await self._more(way, listed[-1].id if listed else None, draw)
        self.heard.judge(listed)

    async def _more(self, way: str, after: int | None, draw: Random | None) -> list[Told]:
        if draw is None:
            return await events(self.client, way, after=after)
        last = (after or 0) + draw.randint(1, MOST_BETWEEN)
        self.heard.cuts += 1
        return await events(self.client, way, after=after, until=lambda told: told.id >= last)

    async def ask_until(self, ends: float, draw: Random) -> None:
        """Ask one question after the other until the time is over."""
        while perf_counter() < ends:
            await self.ask(draw if draw.random() < CUT_SHARE else None)


@asynccontextmanager
async def opened(base: str, token: str, graph: str, question: str) -> AsyncIterator[Callers]:
    """Clients that followed the link of a server."""
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=base, timeout=300, limits=limits) as client:
        answer = await client.post("/api/login", json={"token": token})
        answer.raise_for_status()
        yield Callers(client, graph, question)


async def called(options: argparse.Namespace, token: str) -> dict[str, Any]:
    """Do what the command line asks for."""
    async with opened(options.base, token, options.graph, options.question) as callers:
        if options.minutes:
            ends = perf_counter() + 60 * options.minutes
            many = [callers.ask_until(ends, Random(seed)) for seed in range(options.clients)]
            await asyncio.gather(*many)
        elif options.in_turn:
            for _ in range(options.clients):
                await callers.ask()
        else:
            await asyncio.gather(*(callers.ask() for _ in range(options.clients)))
    heard = callers.heard
    return {
        "first_s": heard.first_s, "answered": heard.answered, "events": heard.events,
        "cuts": heard.cuts, "faults": dict(heard.faults),
    }  # fmt: skip


def main() -> int:
    """Call a server, and print what was heard."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.callers")
    parser.add_argument("base")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--graph", required=True)
    parser.add_argument("--question", required=True)
    options = parser.parse_args()
    token = sys.stdin.readline().strip()
    sys.stdout.write(json.dumps(asyncio.run(called(options, token))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
