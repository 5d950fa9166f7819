"""What the proofs of reading add to the tokens of a whole run.

Each run is of the real engine: it settles, sweeps four partitions, and writes a synthesis. A server
that is known to refuse long prompts is asked for no proof, and its run is what others are compared
with. Prompts and replies count, with four bytes a token. A server that counts tokens is asked for
codes once, because its first reply shows how it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import with_model
from tests.fakes.openai_server import Answer, FakeOpenAI, Recorded, Scripted, contract_answer
from tests.fakes.windows import Window
from tests.fakes.wires import listed
from tests.graphs import papers
from tests.reading import LENGTHEN

pytestmark = pytest.mark.usefixtures("no_waits")
LARGE = 10**6
TARGET = 0.01
TOPICS, NODES = 4, 50


@dataclass(slots=True)
class Meter:
    """Counts the bytes of prompts and of reports. ``calls`` are those that hold nodes.

    ``frame`` are the bytes that one of these takes at most besides its nodes.
    """

    window: Window
    size: int = 0
    frame: int = 0
    calls: int = 0
    coded: int = 0

    def above(self, least: Meter) -> int:
        """Return the bytes that this run took more, without what surrounds the nodes of new passes.

        Where passes are short, the room for codes can make one more of each partition; how many it
        makes depends on how the graph was divided.
        """
        more = self.calls - least.calls
        assert 0 <= more <= TOPICS
        return self.size - least.size - more * self.frame

    def __call__(self, request: Recorded) -> Scripted | None:
        if not request.path.endswith("/chat/completions"):
            return None
        prompt = "\n".join(str(message["content"]) for message in request.body["messages"])
        self.size += len(prompt.encode())
        if "You are reading one partition" in prompt:
            self.calls += 1
            self.coded += "Codes: " in prompt
            report = self.window.report(prompt)
            self.size += len(report.encode())
            around = [line for line in prompt.split("\n") if not line.startswith("| ")]
            self.frame = max(self.frame, len("\n".join([*around, report]).encode()))
        return self.window(request)


async def spend(
    endpoint: Endpoint,
    pass_tokens: int,
    *,
    refuses: bool = False,
    counts: bool = True,
    **settings: Any,
) -> Meter:
    """Return what a run has cost. ``counts``: the server reports the tokens of prompts."""
    with FakeOpenAI(default=Answer(contract_answer)) as fake:
        if refuses:
            fake.pages["/v1/models"] = listed(max_model_len=LARGE)
        else:
            settings["models"] = {name: {"context": LARGE} for name in ("reader", "writer")}
        window = Window(LARGE) if counts else Window(LARGE, count=lambda tokens: None)
        fake.refuse = meter = Meter(window)
        async with with_model(endpoint, fake, max_pass_tokens=pass_tokens, **settings) as pgs:
            answer = await pgs.execute("Why?", graph="papers", full_sweep=True, cache=False)
    assert answer.coverage.nodes_read == answer.coverage.nodes_total
    return meter


# Tokens of a pass, clauses of a text, and the share that was measured, rounded up: 2.0 % (2.9 with
# one new pass), 1.05 to 1.13 % by how the partitions are, 0.54 %, and 0.41 %. The request takes 40
# tokens of each prompt.
MEASURED = [(4_000, 30, 0.025), (8_000, 30, 0.013), (32_000, 120, TARGET), (100_000, 120, TARGET)]


@pytest.mark.parametrize(("pass_tokens", "clauses", "share"), MEASURED)
async def test_proofs_add_little_to_the_tokens_of_a_run(
    endpoint: Endpoint, db: Database, pass_tokens: int, clauses: int, share: float
) -> None:
    await make_graph(endpoint, db, clauses)
    least = await spend(endpoint, pass_tokens, refuses=True)
    assert least.coded == 0
    spent = await spend(endpoint, pass_tokens, counts=False)
    assert spent.coded == spent.calls
    assert spent.size - least.size > 0
    assert spent.above(least) <= share * least.size
    # Calls in flight have codes until the first of them has ended.
    counted = await spend(endpoint, pass_tokens, max_concurrent_calls=1)
    assert counted.coded == 1
    assert counted.size - least.size > 0
    assert counted.above(least) <= max(TARGET, share / counted.calls) * least.size


async def make_graph(endpoint: Endpoint, db: Database, clauses: int) -> None:
    """Make a graph whose texts have some clauses of 40 bytes, and partition it."""
    mapping = await papers(db, TOPICS, NODES)
    await alter(db, LENGTHEN, clauses=clauses)
    with FakeOpenAI() as fake:
        async with with_model(endpoint, fake) as pgs:
            await pgs.graphs.add("papers", mapping)
