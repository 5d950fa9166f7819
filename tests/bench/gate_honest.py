"""Measures how many honest statements the gate refuses, and compares rows with a bare read.

    python -m tests.bench.gate_honest
    python -m tests.bench.gate_honest --every 20 --refused

The statements are 9,473 that a model wrote for 16 published databases. Each database is made from
its schema, with a few nodes. The statements for Stack Overflow also run on Neo4j's example, where
the rows behind the gate must equal those of the driver. Errors of the server, such as a syntax
error, are no refusals of the gate; they have a line of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import ReadLimits, check_statement, read_statement
from pgs_neo4j.database.gate.values import plain_value
from pgs_neo4j.errors import DatabaseError, GateError, QueryError
from tests.bench import place
from tests.bench.graphs import DATA
from tests.made_databases import fill_database
from tests.published_statements import ARCHIVE as PAIRS
from tests.published_statements import Pair, Published, by_database, read_published
from tests.stackoverflow import ARCHIVE, load_stack_overflow

STACK_OVERFLOW = "stackoverflow2"
GENEROUS = ReadLimits(seconds=60.0, rows=100_000, size_bytes=1_000_000_000)
PLAN_S = 60.0
AT_ONCE = 4
DELETE = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS"


@dataclass(slots=True)
class Judged:
    """What became of the statements: how many, and the messages of gate and server by statement."""

    statements: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the statements that the gate refused."""
        return len(self.refused) / self.statements


async def judge(db: Database, published: Published, step: int = 1) -> dict[str, Judged]:
    """Check every ``step``-th statement on a database made of its schema; the results by database.

    Deletes the data of the database before each schema and at the end.
    """
    judged: dict[str, Judged] = {}
    for name, pairs in by_database(published.parsable, step).items():
        await db.call(DELETE, {}, "write")
        if name in published.schemas:  # one is missing, and its statements run on nothing
            await fill_database(db, published.schemas[name])
        found = judged[name] = Judged(len(pairs))

        async def check(pair: Pair, found: Judged = found) -> None:
            try:
                await check_statement(db, pair.statement, {}, PLAN_S)
            except GateError as error:
                # The server, not the gate, refuses what it cannot read.
                refused = not isinstance(error.__cause__, QueryError)
                (found.refused if refused else found.failed)[pair.statement] = str(error)
            except DatabaseError as error:
                found.failed[pair.statement] = str(error)

        await _each(pairs, check)
    await db.call(DELETE, {}, "write")
    return judged


async def compare(db: Database, pairs: Iterable[Pair]) -> tuple[int, list[str]]:
    """Return how many statements could be compared, and those whose rows differ from a bare read.

    Rows are compared without their order. Statements that the server or the gate refuses are left
    out.
    """
    compared, different = 0, list[str]()

    async def check(pair: Pair) -> None:
        nonlocal compared
        try:
            _, bare = await db.call(f"CYPHER 5 {pair.statement}", {}, "read")
        except DatabaseError:
            return
        try:
            read = await read_statement(db, pair.statement, limits=GENEROUS)
        except GateError:
            return
        compared += 1
        expected = [tuple(map(plain_value, row.values())) for row in bare]
        if sorted(map(repr, read.rows)) != sorted(map(repr, expected)) or read.truncated:
            different.append(pair.statement)

    await _each(pairs, check)
    return compared, different


def with_rows(published: Published, step: int = 1) -> list[Pair]:
    """Return every ``step``-th statement for Stack Overflow that returned rows."""
    pairs = [p for p in published.parsable if p.database == STACK_OVERFLOW and p.returns_results]
    return pairs[::step]


async def _each(
    pairs: Iterable[Pair], check: Callable[[Pair], Coroutine[None, None, None]]
) -> None:
    waiting = iter(pairs)

    async def work() -> None:
        for pair in waiting:
            await check(pair)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def table(judged: dict[str, Judged]) -> str:
    """Return the counts by database, and the reasons of the gate, as text."""
    lines = [f"{'database':<18}{'statements':>11}{'refused':>9}{'server':>8}"]
    for name, one in judged.items():
        lines.append(f"{name:<18}{one.statements:>11,}{len(one.refused):>9}{len(one.failed):>8}")
    every = sum(one.statements for one in judged.values())
    refused = [text for one in judged.values() for text in one.refused.values()]
    failed = sum(len(one.failed) for one in judged.values())
    lines.append(f"{'all':<18}{every:>11,}{len(refused):>9}{failed:>8}")
    lines.append(f"the gate refuses {len(refused) / every:.2%}:")
    lines += [f"{count:>5}  {text}" for text, count in Counter(refused).most_common()]
    return "\n".join(lines) + "\n"


async def measure(every: int, uri: str | None, *, refused: bool) -> None:
    """Print the table and the comparison."""
    published = read_published(DATA / PAIRS)
    async with place.opened(uri) as (_, db):
        judged = await judge(db, published, every)
        sys.stdout.write(table(judged))
        if refused:
            for one in judged.values():
                sys.stderr.writelines(f"{' '.join(text.split())}\n" for text in one.refused)
        await load_stack_overflow(db, DATA / ARCHIVE)
        compared, different = await compare(db, with_rows(published, every))
        sys.stdout.write(
            f"rows equal those of the driver: {compared - len(different)} / {compared}\n"
        )
        sys.stderr.writelines(f"{' '.join(text.split())}\n" for text in different)


def main() -> None:
    """Measure as the options say."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--every", type=int, default=1, help="take every so many statements only")
    options.add_argument("--refused", action="store_true", help="print what is refused to stderr")
    options.add_argument("--uri", help=place.HELP)
    chosen = options.parse_args()
    asyncio.run(measure(chosen.every, chosen.uri, refused=chosen.refused))


if __name__ == "__main__":
    main()
