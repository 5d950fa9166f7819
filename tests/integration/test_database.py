"""The door to Neo4j: typed rows, typed errors, deadlines, and checks of what goes through."""

import asyncio

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable, SessionExpired, TransientError

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database import queries, schema
from pgs_neo4j.database.schema import SCHEMA_VERSION, ensure_schema, read_change_token
from pgs_neo4j.engine.jobs import repartition
from pgs_neo4j.errors import (
    DatabaseAuthError,
    DatabaseError,
    DatabaseTimeoutError,
    QueryError,
)
from tests.database import list_rows
from tests.engines import engine_on
from tests.graphs import papers
from tests.waiting import until


def query(text, mode="read", returns="value", params=""):
    typed = [", ".join(f"{n.strip()}: any" for n in ns.split(",") if n) for ns in (params, returns)]
    return queries.parse(
        "test/statement",
        f"// A test.\n// params: {typed[0]}\n// returns: {typed[1]}\n// mode: {mode}\n{text}\n",
    )


async def test_a_stream_gives_every_row_and_may_be_left_early(db):
    numbers = query("UNWIND range(1, 5000) AS value RETURN value")
    rows = await db.stream(numbers, list_rows, fetch=7)
    assert [row["value"] for row in rows] == list(range(1, 5001))
    assert await db.stream(numbers, anext, fetch=7) == {"value": 1}
    assert await db.read(query("RETURN 1 AS value")) == [{"value": 1}]


async def test_a_write_does_not_pass_as_a_read(db):
    with pytest.raises(QueryError):
        await db.read(query("CREATE (n:Thing) RETURN 1 AS value"))
    assert await db.read(query("MATCH (n:Thing) RETURN count(n) AS value")) == [{"value": 0}]


@pytest.mark.parametrize("fault", [ServiceUnavailable, SessionExpired, TransientError])
async def test_a_read_is_repeated_after_a_transient_fault(db, monkeypatch, fault):
    tried = []

    async def fail(session, text, params):
        tried.append(text)
        raise fault("gone")

    monkeypatch.setattr(neo4j.AsyncSession, "run", fail)
    asked = query("RETURN $x AS value", params="x")
    assert await db.read(asked, x=3) == [{"value": 3}]
    assert tried == [asked.text]


async def test_a_read_that_is_refused_is_not_repeated(db, monkeypatch):
    asked = []
    managed = neo4j.AsyncSession.execute_read

    async def count(session, work):
        asked.append(work)
        return await managed(session, work)

    monkeypatch.setattr(neo4j.AsyncSession, "execute_read", count)
    with pytest.raises(QueryError):
        await db.read(query("RETURN 1 / 0 AS value"))
    assert await db.read(query("RETURN 1 AS value")) == [{"value": 1}]
    assert asked == []


async def test_a_refused_statement_is_a_query_error_without_parameter_values(endpoint, db):
    with pytest.raises(QueryError) as caught:
        await db.read(query("RETURN 1 / size($text) + nope() AS value", params="text"), text="hush")
    assert "hush" not in str(caught.value)
    assert endpoint.password is None or endpoint.password not in repr(db)


async def test_the_deadline_holds_and_the_connection_stays_usable(db):
    slow = query("UNWIND range(1, 100000000) AS i WITH count(i * i) AS value RETURN value")
    db.timeout_s = 0.3
    with pytest.raises(DatabaseTimeoutError, match="PGS_QUERY_TIMEOUT_S"):
        await db.read(slow)
    db.timeout_s = 60
    assert await db.read(query("RETURN 1 AS value")) == [{"value": 1}]


async def test_canceling_ends_the_transaction_on_the_server(db):
    slow = query("UNWIND range(1, 1000000000) AS i WITH count(i * i) AS value RETURN value")
    task = asyncio.create_task(db.read(slow))
    running = query(
        "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS '1000000000) AS i' "
        "AND NOT currentQuery CONTAINS 'SHOW' RETURN count(*) AS value"
    )

    async def runs() -> bool:
        return await db.read(running) == [{"value": 1}]

    async def has_ended() -> bool:
        return not await runs()

    await until(runs, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(has_ended, 60)


@pytest.mark.schema
async def test_the_schema_is_made_once(bare_db):
    async with asyncio.TaskGroup() as clients:
        for _ in range(4):
            clients.create_task(ensure_schema(bare_db))
    rows = await bare_db.read(query("MATCH (m:PgsMeta) RETURN count(m) AS value"))
    assert rows == [{"value": 1}]
    rows = await bare_db.read(queries.get("engine/purge/read_constraints"))
    constraints = [n for n in queries.names() if n.startswith("database/constraint_")]
    assert len(rows) == len(constraints) > 5
    await ensure_schema(bare_db)
    assert len(await bare_db.read(queries.get("engine/purge/read_constraints"))) == len(rows)


@pytest.mark.schema
@pytest.mark.parametrize("name", ["index_spending_day", "constraint_run_id"])
async def test_what_another_client_is_just_making_is_there_already(bare_db, name):
    made = queries.get(f"database/{name}")
    # One that makes an index waits with its commit, and one that makes a constraint before that.
    waiting = query(
        "SHOW TRANSACTIONS YIELD status, currentQuery "
        "WHERE currentQuery = '' OR status STARTS WITH 'Blocked' RETURN count(*) AS value"
    )

    async def waits() -> bool:
        return await bare_db.read(waiting) == [{"value": 2}]

    async with bare_db.driver.session() as session, asyncio.TaskGroup() as tasks:
        other = await session.begin_transaction()
        await (await other.run(made.text)).consume()
        second = tasks.create_task(bare_db.write(made))
        await until(waits, 60)
        await other.commit()
    assert second.result() == []


async def test_a_wrong_password_is_not_quoted_and_an_unknown_database_is_named(endpoint, db):
    if endpoint.password is None:
        pytest.skip("the test database asks for no password")
    with pytest.raises(DatabaseAuthError) as caught:
        async with db_module.connect(endpoint.uri, endpoint.user, "wrong-hunter2"):
            raise AssertionError
    assert "hunter2" not in str(caught.value)
    assert "PGS_NEO4J_PASSWORD" in str(caught.value)
    with pytest.raises(DatabaseError, match="PGS_NEO4J_DATABASE"):
        async with db_module.connect(
            endpoint.uri, endpoint.user, endpoint.password, database="nosuchdb"
        ):
            raise AssertionError


NAMES = """
CALL () {
  MATCH (n) WHERE any(l IN labels(n) WHERE l STARTS WITH 'Pgs')
  RETURN labels(n) AS labels, [] AS types, keys(n) AS keys
  UNION ALL
  MATCH ()-[r]->() WHERE type(r) STARTS WITH 'PGS_'
  RETURN [] AS labels, [type(r)] AS types, keys(r) AS keys
}
UNWIND labels + [null] AS label
UNWIND types + [null] AS type
UNWIND keys + [null] AS key
RETURN collect(DISTINCT label) AS labels, collect(DISTINCT type) AS types,
       collect(DISTINCT key) AS keys
"""


async def test_the_log_of_the_driver_has_no_parameter(db, caplog):
    secret, canary = ["a secret"], "another one"
    given = {"list": secret, "text": canary, "map": {"deep": [canary]}, "number": 7}
    read = query(
        "RETURN [$list, $text, $map.deep, $number] AS value", params="list, text, map, number"
    )
    written = query("CREATE (n:Secret {is: $text, are: $list})", "data", "", "list, text")
    few = {"list": secret, "text": canary}
    with caplog.at_level("DEBUG", logger="neo4j"):
        expected = [secret, canary, [canary], 7]
        assert await db.read(read, **given) == [{"value": expected}]
        assert await db.stream(read, list_rows, **given) == [{"value": expected}]
        assert (await db.call(read.text, given, "read"))[1] == [{"value": expected}]
        await db.write(written, **few)
        await db.rehearse(written, **few)
        await db.transact(lambda one: one.write(written, **few), 60)
    lines = [record.getMessage() for record in caplog.records]
    assert len([line for line in lines if "C: RUN" in line and "[1 items]" in line]) >= 6
    told = "\n".join(line for line in lines if "C: " in line)
    assert "a secret" not in told
    assert canary not in told
    _, rows = await db.call("MATCH (n:Secret) RETURN n.is AS is, n.are AS are", {}, "read")
    assert rows == 2 * [{"is": canary, "are": secret}]


@pytest.mark.thorough
async def test_every_name_we_write_is_listed(endpoint, db):
    mapping = await papers(db, topics=30, size=10)
    async with engine_on(endpoint, min_community_size=4, target_partition_max=12) as engine:
        await engine.graphs.add("papers", mapping)
        await repartition(engine, "papers")
        answer = await engine.execute("What is missing?", graph="papers", max_sweep_partitions=3)
        await engine.runs.feedback(answer.run, "accepted")
    _, rows = await db.call(NAMES, {}, "read")
    assert set(rows[0]["labels"]) <= set(schema.LABELS)
    assert set(rows[0]["types"]) <= set(schema.TYPES)
    assert set(rows[0]["keys"]) <= set(schema.PROPERTIES)
    assert {"PgsJob", "PgsLease", "PgsFinding", "PgsMeta", "PgsWeight"} <= set(rows[0]["labels"])
    assert {"PGS_PARENT", "PGS_IN", "PGS_CITES", "PGS_RATED"} <= set(rows[0]["types"])


async def test_our_own_commits_leave_the_change_token_and_others_do_not(db):
    await ensure_schema(db)
    first = await read_change_token(db)
    assert first is not None
    query = queries.get("database/merge_meta")
    await asyncio.gather(*(db.write(query, version=SCHEMA_VERSION) for _ in range(9)))
    assert await read_change_token(db) == first
    await db.call("CREATE (:Thing)", {}, "write")
    second = await read_change_token(db)
    assert second != first
    await db.call("MATCH (t:Thing) SET t.missing = null", {}, "write")
    assert await read_change_token(db) == second
