"""A whole graph is read over every vendor's wire, in any context, and nothing else counts as read.

With ``--thorough``, every wire is tried in every context.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.database import empty
from tests.engines import model_on_papers
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.windows import Window
from tests.fakes.wires import VENDORS, WIRES, WireServer
from tests.reading import CONTEXTS, HIDDEN_CONTEXT, WIRE_CLAUSES, add_papers, try_wire

pytestmark = pytest.mark.usefixtures("no_waits")
LONGEST_S = 900.0  # for five runs, which take a minute; a hang ends
FURTHER = [
    ("openrouter", 4_096),
    ("anthropic", 4_096),
    ("vllm", 32_768),
    ("tgi", 32_768),
    ("lmstudio", 131_072),
    ("ollama natively", 131_072),
]


async def test_a_graph_is_read_over_every_wire_and_nothing_else_counts(
    endpoint: Endpoint, db: Database
) -> None:
    assert len(VENDORS) == 14
    await add_papers(endpoint, db, WIRE_CLAUSES)
    # What every second server does not say is learned from what it refuses or cuts.
    cells = [
        await try_wire(endpoint, db, vendor, HIDDEN_CONTEXT, hidden=bool(place % 2))
        for place, vendor in enumerate(VENDORS)
    ]
    cells += [await try_wire(endpoint, db, *one) for one in FURTHER]
    assert [cell for cell in cells if not cell.right] == []


@pytest.mark.nightly
@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_graph_is_read_over_a_wire_in_every_context(
    endpoint: Endpoint, db: Database, vendor: str
) -> None:
    await add_papers(endpoint, db, WIRE_CLAUSES)
    async with asyncio.timeout(LONGEST_S):
        cells = [await try_wire(endpoint, db, vendor, context) for context in CONTEXTS]
        cells.append(await try_wire(endpoint, db, vendor, HIDDEN_CONTEXT, hidden=True))
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
