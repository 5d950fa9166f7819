"""A statement on the real database finds what another transaction deletes before it is written.

Locks decide the order of events: the statement finds all nodes, then waits for a lock that the
other transaction holds. So nothing here depends on how long anything takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from neo4j.exceptions import Neo4jError

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.driver_errors import is_deleted
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import QueryError
from tests.database import alter, fetch
from tests.waiting import until

MADE = """
CREATE (:Door) WITH 1 AS one
UNWIND range(1, 3) AS i CREATE (:Leaf {i: i})-[:ON {i: i}]->(:Twig)
"""
FIND = "MATCH (n:Leaf)-[r:ON]->(t:Twig) WITH collect([n, r, t]) AS found MATCH (d:Door) "
WAIT = "SET d.opened = true WITH found UNWIND found AS one WITH one[0] AS n, one[1] AS r "
FORMS = {
    "relationship": "MERGE (n)-[:OF]->(:Tree {i: 1}) RETURN count(*) AS value",
    "label": "SET n:Dry RETURN count(*) AS value",
    "removed label": "REMOVE n:Leaf RETURN count(*) AS value",
}
BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
OWN = "MATCH (n:Leaf {i: 1}) DETACH DELETE n RETURN labels(n) AS value"


def query(text: str, mode: str) -> queries.Query:
    return queries.parse(
        "test/statement",
        f"// A test.\n// returns: value: any\n// mode: {mode}\n{text}\n",
    )


async def overtaken(db: Database, work: Callable[[], Awaitable[list[Row]]]) -> list[Row]:
    """Return what ``work`` returns; a leaf that it has found is deleted while it waits."""

    async def is_blocked() -> bool:
        return bool(await fetch(db, BLOCKED))

    async with db.driver.session() as session:
        transaction = await session.begin_transaction()
        await (await transaction.run("MATCH (d:Door) SET d.opened = false")).consume()
        working = asyncio.ensure_future(work())
        await until(is_blocked, 60.0)
        await (await transaction.run("MATCH (n:Leaf {i: 2}) DETACH DELETE n")).consume()
        await transaction.commit()
    return await working


@pytest.mark.parametrize("form", FORMS)
async def test_a_statement_is_disturbed_by_a_deletion(db: Database, form: str) -> None:
    """What the database says, without which the other tests show nothing."""
    await alter(db, MADE)

    async def once() -> list[Row]:
        async with db.driver.session() as session:
            return await (await session.run(FIND + WAIT + FORMS[form])).data()  # type: ignore[arg-type]

    with pytest.raises(Neo4jError) as raised:
        await overtaken(db, once)
    assert is_deleted(raised.value)


@pytest.mark.parametrize("mode", ["data", "write"])
@pytest.mark.parametrize("form", FORMS)
async def test_a_write_does_without_what_was_deleted(db: Database, form: str, mode: str) -> None:
    await alter(db, MADE)
    rows = await overtaken(db, lambda: db.write(query(FIND + WAIT + FORMS[form], mode)))
    assert rows == [{"value": 2}]


async def test_a_transaction_of_several_statements_is_repeated_as_a_whole(db: Database) -> None:
    await alter(db, MADE)
    first = query("CREATE (:Note) RETURN 1 AS value", "data")
    second = query(FIND + WAIT + FORMS["relationship"], "data")

    async def work(one: Database) -> list[Row]:
        await one.write(first)
        return await one.write(second)

    assert await overtaken(db, lambda: db.transact(work, 60.0)) == [{"value": 2}]
    assert await fetch(db, "MATCH (n:Note) RETURN count(n) AS value") == [{"value": 1}]


async def test_a_statement_that_reads_what_it_deletes_is_refused_at_once(db: Database) -> None:
    await alter(db, MADE)
    with pytest.raises(QueryError, match="has been deleted in this transaction") as raised:
        await db.write(query(OWN, "data"))
    assert type(raised.value) is QueryError
    assert await fetch(db, "MATCH (n:Leaf) RETURN count(n) AS value") == [{"value": 3}]
