"""The schema and the change token on a database that only answers."""

from typing import Any

import pytest

from pgs_neo4j.database import names, queries
from pgs_neo4j.database.connection import Position
from pgs_neo4j.database.schema import (
    SCHEMA_VERSION,
    TOKEN_ATTEMPTS,
    ensure_schema,
    read_change_token,
)
from pgs_neo4j.errors import DatabaseVersionError


class Answers:
    """Answers the schema's statements and records what is written."""

    def __init__(
        self,
        version: int | None = None,
        positions: list[Position | None] | None = None,
        commits: int | None = 0,
    ) -> None:
        self.version, self.commits = version, commits
        self.positions = positions or []
        self.written: dict[str, dict[str, Any]] = {}

    async def read(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        assert not params
        if query.name == "database/read_version":
            return [] if self.version is None else [{"version": self.version}]
        assert query.name == "database/read_commits"
        return [] if self.commits is None else [{"commits": self.commits}]

    async def write(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        assert set(params) == set(query.params)
        assert query.name not in self.written
        self.written[query.name] = params
        return []

    async def read_position(self) -> Position | None:
        return self.positions.pop(0) if len(self.positions) > 1 else self.positions[0]


def constraints() -> set[str]:
    return {name for name in queries.names() if name.startswith("database/constraint_")}


async def test_a_current_schema_costs_one_read():
    database = Answers(version=SCHEMA_VERSION)
    await ensure_schema(database)
    assert database.written == {}


async def test_an_empty_database_gets_constraints_names_and_a_version():
    database = Answers()
    await ensure_schema(database)
    others = {"database/create_names", "database/merge_meta"}
    assert set(database.written) == constraints() | others
    assert database.written["database/merge_meta"] == {"version": SCHEMA_VERSION}
    assert database.written["database/create_names"]["labels"] == list(names.LABELS)


async def test_the_version_is_written_last():
    database = Answers()
    await ensure_schema(database)
    assert [*database.written][-1] == "database/merge_meta"


async def test_a_database_of_a_later_release_is_refused_and_stays_as_it_is():
    database = Answers(version=SCHEMA_VERSION + 1)
    stored = f"has schema version {SCHEMA_VERSION + 1} .* upgrade pgs-neo4j"
    with pytest.raises(DatabaseVersionError, match=stored):
        await ensure_schema(database)
    assert database.written == {}


async def test_every_label_with_a_constraint_is_a_name_of_the_package():
    for name in constraints():
        label = queries.get(name).text.split("(n:")[1].split(")")[0]
        assert label in names.LABELS


@pytest.mark.parametrize("group", [names.LABELS, names.TYPES, names.PROPERTIES])
def test_names_are_listed_once(group):
    assert len(set(group)) == len(group)


def test_labels_and_types_carry_the_prefix_of_the_package():
    assert all(label.startswith("Pgs") for label in names.LABELS)
    assert all(type_.startswith("PGS_") for type_ in names.TYPES)


async def test_the_token_leaves_out_the_commits_of_the_package():
    assert await read_change_token(Answers(positions=[Position("s", 90)], commits=7)) == "s:83"
    assert await read_change_token(Answers(positions=[Position("s", 95)], commits=12)) == "s:83"
    assert await read_change_token(Answers(positions=[Position("s", 96)], commits=12)) == "s:84"
    assert await read_change_token(Answers(positions=[Position("t", 90)], commits=7)) == "t:83"


async def test_a_count_between_two_positions_is_read_again():
    moving = [Position("s", 1), Position("s", 2), Position("s", 3), Position("s", 3)]
    assert await read_change_token(Answers(positions=moving, commits=1)) == "s:2"


async def test_a_database_that_never_rests_has_no_token():
    restless = Answers(positions=[Position("s", number) for number in range(99)])
    assert await read_change_token(restless) is None
    assert len(restless.positions) == 99 - 2 * TOKEN_ATTEMPTS


@pytest.mark.parametrize(
    "database", [Answers(positions=[None]), Answers(positions=[Position("s", 1)], commits=None)]
)
async def test_without_a_position_or_a_count_there_is_no_token(database):
    assert await read_change_token(database) is None
