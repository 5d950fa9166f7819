"""Ingestions in forks of one interpreter, each of which can be killed at a chosen moment.

``python -m tests.killed_ingest`` reads one order per line, and answers with an exit code. The model
and the embedder are scripts that log each of their calls with its time.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import threading
import time
import traceback
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.documents.enrich import embed
from pgs_neo4j.documents.publish import large
from pgs_neo4j.engine import PGS
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model import Completion, Effort, Prompt
from tests.bench.ingestion.replies import FaithfulLLM
from tests.documents import stored_graph
from tests.fakes.embedders import ScriptedEmbedder

KILLED = -signal.SIGKILL
VECTOR = "vector:"
BATCH_TEXTS = 10
"""Texts per embedding call."""
ROOT = Path(__file__).resolve().parents[1]
PASSAGE = re.compile(r"<passage>.*</passage>", re.DOTALL)
HALF = """
MATCH (d:LoadedNode:Document {graph: $graph})
OPTIONAL MATCH (d)-[:PART_OF]->(c:Chunk)
WITH d, count(c) AS chunks WHERE chunks <> d.chunks
RETURN d.id AS id
"""


@dataclass(frozen=True, slots=True)
class Order:
    """An ingestion, and the moment at which it is killed, if any.

    ``statement`` is the last part of a statement's name. ``when`` says whether the ingestion is
    killed ``before``, ``during``, or ``after`` the ``count``-th time that the statement is sent.
    With ``after_s``, it is killed so many seconds after the first call of the model. A call takes
    ``model_s``. With ``part_bytes``, larger documents are published in parts.
    """

    folder: str
    graph: str
    log: str
    statement: str = ""
    when: str = ""
    count: int = 1
    after_s: float = 0.0
    model_s: float = 0.0
    part_bytes: int = 0


class LoggedLLM(FaithfulLLM):
    """Writes the beginning of each call to a file."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self._order = order
        self._file = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._timer = threading.Timer(order.after_s, die) if order.after_s else None

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        passage = PASSAGE.search(prompt.user)
        name = digest(passage[0] if passage else prompt.user)
        os.write(self._file, f"{name} {time.monotonic()}\n".encode())
        if self._timer is not None and not self._timer.is_alive():
            self._timer.daemon = True
            self._timer.start()
        await asyncio.sleep(self._order.model_s)
        return await super().complete(prompt, max_tokens=max_tokens, effort=effort)


class LoggedEmbedder(ScriptedEmbedder):
    """Writes each text that is to be embedded to a file."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self._file = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        lines = (f"{VECTOR}{digest(text)} {time.monotonic()}\n" for text in texts)
        os.write(self._file, "".join(lines).encode())
        return await super().embed(texts)


@dataclass(slots=True)
class Killer:
    """Kills this process at a statement."""

    order: Order
    seen: Counter[str] = field(default_factory=Counter)

    def watch(self) -> None:
        """Check every write from now on."""
        write = Database.write

        async def watched(db: Database, query: Query, **params: object) -> list[Row]:
            name = query.name.rpartition("/")[2]
            self.seen[name] += 1
            now = (name, self.seen[name]) == (self.order.statement, self.order.count)
            if now and self.order.when == "before":
                die()
            if now and self.order.when == "during":
                threading.Timer(0.03, die).start()
            rows = await write(db, query, **params)
            if now:
                die()
            return rows

        patch.object(Database, "write", watched).start()


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


async def ingest(order: Order) -> None:
    """Carry out an order."""
    if order.statement:
        Killer(order).watch()
    llm = LoggedLLM(order)
    embedder = LoggedEmbedder(order)
    embed.BATCH_TEXTS = BATCH_TEXTS
    if order.part_bytes:
        patch.multiple(large, GROUP_BYTES=order.part_bytes, PART_BYTES=order.part_bytes).start()
    async with PGS.connect(sweep_llm=llm, synthesis_llm=llm, embedder=embedder) as pgs:
        done = await pgs.ingest(order.folder, order.graph, embed=True)
        assert done.complete, done


def serve(lines: Iterable[str]) -> None:
    """Answer orders."""
    for line in lines:
        order = Order(**json.loads(line))
        child = os.fork()
        if not child:
            try:
                asyncio.run(ingest(order))
                os._exit(0)
            except BaseException:  # noqa: BLE001 - the parent is told
                traceback.print_exc()
                os._exit(70)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Ingestions:
    """Runs orders."""

    process: Process

    async def run(self, order: Order) -> int:
        """Run an ingestion, and return its exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        await self.process.stdin.drain()
        return int(await asyncio.wait_for(self.process.stdout.readline(), 300))


@asynccontextmanager
async def ingestions(environment: dict[str, str]) -> AsyncIterator[Ingestions]:
    """Yield an interpreter that ingests into the database that its environment names."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killed_ingest"),
        cwd=ROOT,
        env=os.environ | environment,
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        yield Ingestions(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


@dataclass(frozen=True, slots=True)
class LoggedCalls:
    """The calls of a model: when the first one began, and how many passages were asked about again.

    ``embedded`` counts the texts that were embedded again.
    """

    first_s: float
    repeated: int
    embedded: int

    @classmethod
    def read(cls, log: str) -> LoggedCalls:
        """Return the calls in a log."""
        lines = [line.split() for line in Path(log).read_text().splitlines()]
        vectors = [name for name, _ in lines if name.startswith(VECTOR)]
        passages = [name for name, _ in lines if not name.startswith(VECTOR)]
        repeated = (len(names) - len({*names}) for names in (passages, vectors))
        return cls(float(lines[0][1]), *repeated)


async def half_documents(db: Database, graph: str) -> list[str]:
    """Return the documents whose number of chunks is not the number that they state."""
    _, rows = await db.call(HALF, {"graph": graph}, "read")
    return [row["id"] for row in rows]


async def graph_without_name(db: Database, graph: str) -> dict[str, Any]:
    """Return a graph without its name, labels made from it, and the locations of folders."""
    stored = await stored_graph(db, graph)
    label = graph.capitalize()
    for node in stored["nodes"]:
        node["labels"] = sorted(one.removeprefix(label) for one in node["labels"])
        node["properties"] |= {"graph": "", "label": ""}
        if "roots" in node["properties"]:
            node["properties"]["roots"] = len(node["properties"]["roots"])
    for link in stored["links"]:
        own = link["properties"]
        link["properties"] = {name.removeprefix(label): own[name] for name in sorted(own)}
    return stored


if __name__ == "__main__":
    serve(sys.stdin)
