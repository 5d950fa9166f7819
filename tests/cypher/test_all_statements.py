"""Every cypher file against the live database: it plans, does what its mode says, has one user."""

import re
from pathlib import Path

import pytest

from pgs_neo4j.database import queries

PACKAGE = Path(queries.__file__).parents[1]
PLANNED_AS = {
    "read": {"r", "s"},
    "write": {"rw", "w"},
    "data": {"rw", "w"},
    "batch": {"rw", "w"},
    "schema": {"s", "w"},
}


@pytest.mark.parametrize("name", queries.names())
async def test_the_planner_agrees_with_the_header(db, name):
    query = queries.get(name)
    kind, columns = await db.explain(query)
    assert kind in PLANNED_AS[query.mode]
    assert columns == query.columns


def test_every_statement_is_used_by_exactly_one_module():
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    for name in queries.names():
        if name.startswith("database/constraint_"):
            continue  # loaded by prefix, in schema.ensure_schema
        users = [path.name for path, text in sources.items() if f'"{name}"' in text]
        assert len(users) == 1, f"{name} is used by {users or 'nobody'}"


def test_every_statement_that_is_asked_for_exists():
    asked = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r'queries\.get\("([^"]+)"\)', path.read_text(encoding="utf-8"))
    }
    assert asked <= set(queries.names())
    assert len(asked) > 30


def test_no_python_file_holds_a_statement():
    statement = re.compile(r'"""?\s*(MATCH|MERGE|UNWIND|CREATE \(|CALL (db|gds|dbms)\.)')
    holders = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if statement.search(path.read_text(encoding="utf-8"))
    ]
    assert holders == []
