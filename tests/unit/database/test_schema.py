"""The schema and the change token on a database that only answers."""

import re
from typing import Any

import pytest

from pgs_neo4j.database import queries, schema
from pgs_neo4j.database.driver_values import Position
from pgs_neo4j.database.schema import (
    LABELS,
    SCHEMA_VERSION,
    TOKEN_ATTEMPTS,
    TYPES,
    ensure_schema,
    read_change_token,
)
from pgs_neo4j.errors import DatabaseVersionError
from pgs_neo4j.manual import read_page
from tests.fakes.database import FakeDatabase


def answers(
    version: int | None = None, positions: tuple[Position | None, ...] = (), commits: int | None = 0
) -> Any:
    """A database with this schema, whose last position stays."""
    db: Any = FakeDatabase(
        read_version=[] if version is None else [{"version": version}],
        read_commits=[] if commits is None else [{"commits": commits}],
    )
    rest = list(positions)

    async def read_position() -> Position | None:
        return rest.pop(0) if len(rest) > 1 else rest[0]

    db.read_position = read_position
    return db


def written(db: Any) -> list[str]:
    return [name for name, _ in db.sent if not name.startswith("read_")]


async def test_the_version_is_written_last_and_a_current_schema_stays_as_it_is():
    database = answers()
    await ensure_schema(database)
    constraints = {name for name in queries.names() if name.startswith("database/constraint_")}
    assert {f"database/{name}" for name in written(database)} > constraints
    assert database.sent[-1] == ("merge_meta", {"version": SCHEMA_VERSION})
    current = answers(version=SCHEMA_VERSION)
    await ensure_schema(current)
    assert written(current) == []


async def test_a_database_of_a_later_release_is_refused_and_stays_as_it_is():
    database = answers(version=SCHEMA_VERSION + 1)
    stored = f"has schema version {SCHEMA_VERSION + 1} .* upgrade pgs-neo4j"
    with pytest.raises(DatabaseVersionError, match=stored):
        await ensure_schema(database)
    assert written(database) == []


def test_labels_and_types_carry_the_prefix_of_the_package():
    assert all(label.startswith("Pgs") for label in schema.LABELS)
    assert all(type_.startswith("PGS_") for type_ in schema.TYPES)


@pytest.mark.parametrize(
    ("positions", "commits", "token"),
    [
        ([90], 7, "s:83"),
        ([95], 12, "s:83"),
        ([96], 12, "s:84"),
        ([1, 2, 3, 3], 1, "s:2"),  # a count between two positions is read again
        ([None], 0, None),
        ([1], None, None),
    ],
)
async def test_the_token_leaves_out_the_commits_of_the_package(positions, commits, token):
    read = tuple(number and Position("s", number) for number in positions)
    assert await read_change_token(answers(positions=read, commits=commits)) == token


async def test_a_database_that_never_rests_has_no_token():
    restless = answers(positions=tuple(Position("s", number) for number in range(99)))
    assert await read_change_token(restless) is None
    assert len(restless.params("read_commits")) == TOKEN_ATTEMPTS


def test_the_page_of_the_data_model_names_all_labels_and_types() -> None:
    page = read_page("data-model")
    assert [name for name in (*LABELS, *TYPES) if not re.search(rf"\b{name}\b", page)] == []
