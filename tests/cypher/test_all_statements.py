"""Every cypher file against the live database: it plans, does what its mode says, has one user."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import connect
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.documents.names.index import create_name_indexes
from pgs_neo4j.documents.publish.publication import prepare
from tests.cypher.strings import find_statements, iterate_strings
from tests.database import empty, explain

PACKAGE = Path(queries.__file__).parents[1]
PLANNED_AS = {
    "read": {"r", "s"},
    "write": {"rw", "w"},
    "data": {"rw", "w"},
    "batch": {"rw", "w"},
    "schema": {"s", "w"},
}
# The GDS client names its own procedures and functions; a name cannot be a parameter.
BUILT_BY_A_CLIENT = {"database/gds/runner.py": {"RETURN …(…) AS value", "CALL …(…)…"}}


@cache
def sources() -> dict[str, str]:
    """The package's source files by their path in it."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
    }


@cache
def strings() -> dict[str, set[str]]:
    """The string literals of each source file."""
    return {path: {text for _, text in iterate_strings(code)} for path, code in sources().items()}


@pytest.fixture(scope="module")
async def planner(endpoint):
    """One connection for all statements: they are explained, and change nothing."""
    async with connect(endpoint.uri, endpoint.user, endpoint.password) as opened:
        await empty(opened)
        yield opened


@pytest.mark.thorough
@pytest.mark.parametrize("name", queries.names())
async def test_the_planner_agrees_with_the_header(planner, name):
    """In the languages of the statement that the server speaks: 5.26 speaks Cypher 5 alone."""
    query = queries.get(name)
    source = (queries.folder() / f"{name}.cypher").read_text(encoding="utf-8")
    for language in query.languages or planner.languages:
        if language in planner.languages:
            text = queries.prefix(source, (language,))
            kind, columns = await explain(planner, replace(query, text=text))
            assert kind in PLANNED_AS[query.mode], language
            assert columns == tuple(query.columns), language


@pytest.mark.thorough
async def test_statements_that_are_planned_once_find_everything_by_keys(db):
    """Their plan stays whatever the database held when it was made, so it must read no label."""
    await ensure_schema(db)
    await prepare(db)
    await create_name_indexes(db)
    once = [name for name in queries.names() if " replan=skip\n" in queries.get(name).text]
    assert "documents/publish/publish" in once
    for name in once:
        operators = await read_operators(db, queries.get(name))
        assert [one for one in operators if "Scan" in one] == [], name


@pytest.mark.thorough
async def test_facts_are_read_only_where_a_mapping_names_them(planner):
    """A subquery that is part of a plan runs for every node, and one inside of a case does not."""
    readers = [name for name in queries.names() if "facts" in queries.get(name).params]
    assert len(readers) > 10
    for name in readers:
        query = queries.get(name)
        assert "CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {" in query.text, name
        unwound = [text for kind, text in await read_plan(planner, query) if "Unwind" in kind]
        assert not any("$facts" in text for text in unwound), name


async def read_operators(db, query):
    """The operators of a statement's plan."""
    return [operator for operator, _ in await read_plan(db, query)]


async def read_plan(db, query):
    """The operators of a statement's plan, each with its details."""
    async with db.driver.session(database=db.name) as session:
        result = await session.run(
            query.text.replace("\n", "\nEXPLAIN ", 1), dict.fromkeys(query.params)
        )
        plans = [(await result.consume()).plan]
    operators = []
    while plans:
        plan = plans.pop()
        operators.append((plan["operatorType"], plan["args"].get("Details", "")))
        plans += plan.get("children", ())
    return operators


def test_every_statement_is_used_by_exactly_one_module():
    for name in queries.names():
        if name.startswith(("database/constraint_", "database/index_")):
            continue  # loaded by prefix, in schema.ensure_schema
        users = [path for path, texts in strings().items() if name in texts]
        assert len(users) == 1, f"{name} is used by {users or 'no module'}"


def test_a_statement_stands_in_the_folder_of_its_user_or_in_one_with_its_name():
    statements = set(queries.names())
    strays = {
        name: path
        for path, texts in strings().items()
        for name in texts & statements
        if name.rpartition("/")[0] not in (path.rpartition("/")[0], path.removesuffix(".py"))
    }
    assert strays == {}


def test_every_statement_that_is_asked_for_exists():
    asked = {
        name
        for text in sources().values()
        for name in re.findall(r'queries\.get\(\s*"([^"]+)"\s*\)', text)
    }
    assert asked <= set(queries.names())
    assert len(asked) > 30


def test_no_python_file_holds_a_statement():
    holders = {
        path: {text for _, text in statements} - BUILT_BY_A_CLIENT.get(path, set())
        for path, text in sources().items()
        if (statements := find_statements(text))
    }
    assert {path: texts for path, texts in holders.items() if texts} == {}


@pytest.mark.parametrize(
    "source",
    [
        'TEXT = "MATCH (n) RETURN n"',
        "TEXT = 'match (n) ' + 'RETURN n.name AS name'",
        'def f(label):\n    return f"MATCH (n:{label}) RETURN n"',
        'run("UNWIND $rows AS row " "MERGE (n:Thing {id: row.id})")',
        'run("RETURN 1")',
        'run("match (n:Thing) return n")',
        'run("CALL dbms.components() YIELD name")',
        'run("CALL () { " + inner + " }")',
        'run(f"CALL {name}() YIELD value")',
        'run(" ".join(["MATCH", "(n)", "DETACH DELETE n"]))',
        'run("CREATE CONSTRAINT %s IF NOT EXISTS" % name)',
        'run("SHOW INDEXES YIELD name")',
        'run("MATCH (n) SET n.a = 1")',
        'run("LOAD CSV FROM $url AS line")',
    ],
)
def test_a_statement_is_seen_however_it_is_written(source):
    assert find_statements(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""MATCH (n) RETURN n: a docstring."""',
        'message = "no node matches; create one (or more) and call again"',
        'message = "set PGS_GRAPH, or drop the index and return to the demo"',
        'fix = "ALTER CURRENT USER SET PASSWORD"',
        'name = "database/merge_leases"',
    ],
)
def test_other_text_is_no_statement(source):
    assert find_statements(source) == []
