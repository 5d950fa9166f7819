"""Full sweeps of one graph over fake endpoints, compared with what their models were given.

Tests try a few of them, and all with ``--thorough``, as ``tests.bench.reading`` does. The texts for
wires have 36,000 tokens at four bytes per token, so contexts of 4,096, 8,192, and 32,768 tokens
divide them. For 131,072 tokens, the server counts each byte as a token, so that the texts need not
be four times as long. Estimates are then off by a factor of 3.5, as for scripts that few
vocabularies cover.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import pytest

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import PGSError
from pgs_neo4j.events import Event, RunStarted, UsageCounted
from pgs_neo4j.model import Answer, Usage
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import with_address, with_model
from tests.fakes.billing import Billed
from tests.fakes.histories import History
from tests.fakes.openai_server import Answer as Reply
from tests.fakes.openai_server import FakeOpenAI, contract_answer
from tests.fakes.wires import Playing, play
from tests.graphs import papers

INPUT, OUTPUT, CACHED, STORED = 2.0, 10.0, 0.2, 2.5  # prices of a million tokens
PRICE = ModelEntry(
    input_price=INPUT, output_price=OUTPUT, cached_input_price=CACHED, cache_write_price=STORED
)
WORST_SETTLING = 0.0006
PRICED = dict.fromkeys(("reader", "writer", "llama3.1:8b"), PRICE)
CONTEXTS = (4_096, 8_192, 32_768, 131_072)
HIDDEN_CONTEXT = 8_192
SIZE = 16
MOST_REFUSED = 0.005
"""The largest share of true prompts of all histories that may be sent again."""
WIRE_CLAUSES, HISTORY_CLAUSES = 230, 55
LENGTHEN = (
    "MATCH (p:Paper) SET p.abstract = p.abstract + reduce(t = '', i IN range(1, $clauses) | "
    "t + ' clay ' + p.doi + ' and slip ' + i + ' met at dawn') + ' end'"
)
READ_BY_RUN = """
MATCH (:PgsRun {id: $run})-[:PGS_SWEPT]->(w)-[:PGS_READ]->(p:PgsPartition)<-[m:PGS_IN]-(n:Paper)
WHERE any(i IN range(0, size(w.read_first) - 1) WHERE w.read_first[i] <= m.rank < w.read_last[i])
RETURN DISTINCT n.abstract AS text
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of one run over one wire.

    ``wrong`` counts the nodes among those ``read`` that the model was not given. ``bill`` is what
    the vendor would bill. ``books`` says whether the run reports the same tokens and the same cost,
    as far as the vendor counts them.
    """

    name: str
    wrong: int
    read: int
    whole: bool
    bill: Billed
    books: bool

    @property
    def right(self) -> bool:
        """Whether only given nodes count as read, all nodes could be read, and the books agree."""
        return not self.wrong and self.read == SIZE and self.whole and self.books


@dataclass(frozen=True, slots=True)
class Lived:
    """The result of one run through a history.

    ``told`` counts the nodes that its answer counts as read; it is None without an answer. ``true``
    prompts were given completely, and ``refused`` of them were sent again. ``mute`` models repeat
    no codes.
    """

    seed: int
    mute: bool
    told: int | None
    wrong: int
    read: int
    true: int
    refused: int

    @property
    def right(self) -> bool:
        """Whether only given nodes count as read, and the answer says the same."""
        return not self.wrong and self.told in (None, self.read)


async def add_papers(endpoint: Endpoint, db: Database, clauses: int) -> None:
    """Create the graph of all sweeps, and partition it once."""
    mapping = await papers(db, 1, SIZE)
    await alter(db, LENGTHEN, clauses=clauses)
    with FakeOpenAI() as fake:
        async with with_model(endpoint, fake) as pgs:
            await pgs.graphs.add("papers", mapping)


async def try_wire(
    endpoint: Endpoint, db: Database, vendor: str, context: int, *, hidden: bool = False
) -> Cell:
    """Sweep the graph over a vendor's wire."""
    async with (
        play(vendor, context, hidden=hidden) as wire,
        with_address(endpoint, wire.base_url, models=PRICED, **wire.settings) as pgs,
    ):
        answer, texts, used = await _sweep(pgs, db)
    assert answer is not None
    assert len(texts) == answer.own_coverage.nodes_read
    wrong = sum(not wire.gave(text) for text in texts)
    whole = answer.synthesis.complete and not answer.partial
    name = f"{vendor} {context}{' hidden' if hidden else ''}"
    books = _agree(answer, wire) if wire.counts else _agree_in_part(answer, wire, used)
    return Cell(name, wrong, len(texts), whole, wire.bill(), books)


def _agree_in_part(answer: Answer, wire: Playing, used: Mapping[str, Billed]) -> bool:
    """Return whether a run reports the number of calls, and the tokens of sweeps that are billed.

    The synthesis is a stream, and streams of such a vendor (TGI) report no tokens. Only the vendor
    can know them, so the run must say that it estimates them.
    """
    calls = answer.usage.calls == wire.bill().calls
    return calls and answer.usage.estimated and used["reader"] == wire.bill("reader")


def _agree(answer: Answer, wire: Playing) -> bool:
    """Return whether a run reports the tokens that its vendor bills, and their cost.

    A settling call that breaks off counts with the most that it may cost, because its tokens are
    unknown.
    """
    usage, bill = answer.usage, wire.bill()
    told = Billed(
        usage.calls,
        usage.input_tokens - usage.cache_write_tokens - usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cache_read_tokens,
        usage.output_tokens,
    )
    cost = (
        bill.uncached * INPUT
        + bill.cache_writes * STORED
        + bill.cache_reads * CACHED
        + bill.output * OUTPUT
    ) / 1_000_000
    assert answer.cost is not None
    if wire.breaks:
        return 0 < answer.cost - cost <= WORST_SETTLING
    return told == bill and answer.cost == pytest.approx(cost, rel=1e-9)


async def try_history(endpoint: Endpoint, db: Database, fake: FakeOpenAI, seed: int) -> Lived:
    """Sweep the graph through the history of a seed.

    An engine keeps what it learns about a model, so each history has its own engine.
    """
    fake.default = Reply(contract_answer)
    fake.refuse = history = History(seed)
    passes = {"max_pass_tokens": 3_000} if seed % 2 else {}
    async with with_model(endpoint, fake, **passes) as pgs:
        answer, texts, _ = await _sweep(pgs, db)
    told = answer.own_coverage.nodes_read if answer else None
    wrong = sum(not history.gave(text) for text in texts)
    return Lived(seed, history.mute, told, wrong, len(texts), history.true, history.again)


async def _sweep(pgs: PGS, db: Database) -> tuple[Answer | None, list[str], dict[str, Billed]]:
    """Return the answer of a run, None if it failed, and the texts that it counts as read.

    Also returns what each model has used, by name; nothing is cached here.
    """
    runs: list[str] = []
    answer: Answer | None = None
    used: defaultdict[str, Billed] = defaultdict(Billed)
    before = Usage()

    def hear(event: Event) -> None:
        nonlocal before
        if isinstance(event, UsageCounted):
            one, now = used[event.model or ""], event.usage
            one.calls += now.calls - before.calls
            one.uncached += now.input_tokens - before.input_tokens
            one.output += now.output_tokens - before.output_tokens
            before = now
        if isinstance(event, RunStarted):
            runs.append(event.run)

    with suppress(PGSError):
        answer = await pgs.execute(
            "Why?", graph="papers", full_sweep=True, cache=False, on_event=hear
        )
    (run,) = runs
    _, rows = await db.call(READ_BY_RUN, {"run": run}, "read")
    return answer, [row["text"] for row in rows], used
