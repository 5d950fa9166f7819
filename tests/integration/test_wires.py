"""A whole graph is read over every vendor's wire, in any context, and nothing else counts as read.

The papers have 36,000 tokens at four bytes a token, so contexts of 4,096, 8,192, and 32,768 tokens
divide them. For 131,072 tokens, the server counts each byte as a token instead of making the texts
four times as long. Estimates are then off by a factor of 3.5, as for scripts that few vocabularies
hold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.database import alter, empty
from tests.engines import model_on_papers, with_model
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.windows import Window
from tests.fakes.wires import WIRES, WireServer
from tests.graphs import papers
from tests.integration.test_windows import READ
from tests.thorough import tries

CONTEXTS = (4_096, 8_192, 32_768, 131_072)
SIZE = 16
LENGTHEN = (
    "MATCH (p:Paper) SET p.abstract = p.abstract + "
    "reduce(t = '', i IN range(1, 230) | t + ' clay ' + p.doi + ' and slip ' + i + ' met at dawn') "
    "+ ' end'"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one run over one wire has shown."""

    name: str
    wrong: int
    read: int
    whole: bool
    calls: int

    @property
    def right(self) -> bool:
        """Whether nothing counts as read that was not given, and all could be read."""
        return not self.wrong and self.read == SIZE and self.whole


async def try_cell(
    endpoint: Endpoint, db: Database, vendor: str, context: int, *, hidden: bool = False
) -> Cell:
    window = Window(context, WIRES[vendor].cut, bytes_per_token=1.0 if context > 100_000 else 4.0)
    server = WireServer(WIRES[vendor], window, hidden=hidden)
    name = f"{vendor} {context}{' hidden' if hidden else ''}"
    with FakeOpenAI() as fake:
        server.install(fake)
        async with with_model(endpoint, fake) as pgs:
            answer = await pgs.execute("Why?", graph="papers", full_sweep=True, cache=False)
    _, rows = await db.call(READ_OF, {"run": answer.run}, "read")
    assert len(rows) == answer.own_coverage.nodes_read
    wrong = [row["text"] for row in rows if not window.gave(row["text"])]
    whole = answer.synthesis.complete and not answer.partial
    return Cell(name, len(wrong), len(rows), whole, len(server.paid))


READ_OF = READ.replace("MATCH (w", "MATCH (:PgsRun {id: $run})-[:PGS_SWEPT]->(w")


async def test_a_graph_is_read_over_every_wire_and_nothing_else_counts(
    endpoint: Endpoint, db: Database
) -> None:
    mapping = await papers(db, 1, SIZE)
    await alter(db, LENGTHEN)
    with FakeOpenAI() as fake:
        async with with_model(endpoint, fake) as pgs:
            await pgs.add_graph("papers", mapping)
    every = [(vendor, context) for vendor in WIRES for context in CONTEXTS]
    diagonal = [(vendor, CONTEXTS[i % 4]) for i, vendor in enumerate(WIRES)]
    chosen = every if tries(0, 1) else diagonal
    cells = [await try_cell(endpoint, db, *one) for one in chosen]
    if tries(0, 1):  # what a server does not say is learned from what it refuses or cuts
        cells += [await try_cell(endpoint, db, vendor, 8_192, hidden=True) for vendor in WIRES]
    assert [cell for cell in cells if not cell.right] == []


@pytest.mark.parametrize("vendor", ["azure", "mistral", "llamacpp", "ollama"])
async def test_no_paid_call_is_lost_to_a_parameter_that_is_refused_late(
    endpoint: Endpoint, db: Database, vendor: str
) -> None:
    """The synthesis alone asks with effort and as a stream, after all sweeps are paid."""
    paid = []
    for wire in (WIRES[vendor], replace(WIRES[vendor], refuses={}, first=None)):
        server = WireServer(wire, Window(32_768, wire.cut))
        with FakeOpenAI() as fake:
            server.install(fake)
            async with model_on_papers(endpoint, db, fake, topics=3, size=12) as pgs:
                answer = await pgs.execute("Why?", full_sweep=True, cache=False)
            await empty(db)
        assert answer.synthesis.complete
        assert answer.usage.calls == len(server.paid)
        refused = [name for name in server.refused if name != "first"]
        # Calls that are in flight at once learn a parameter at once; a refusal costs nothing.
        assert len(refused) <= 4 * len(wire.refuses)
        paid.append(Counter(model for model, _, _ in server.paid))
    assert paid[0] == paid[1]
    assert paid[0]["writer"] == 2  # the call that settles what it takes, and the synthesis
