"""A database that answers the statements of an examination."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.queries import BOUND

CONSTRAINTS = [
    f"pgs_{name.removeprefix('database/constraint_')}"
    for name in queries.names()
    if name.startswith("database/constraint_")
]


class Answers:
    """Rows by the name of a statement; an error in their place is raised."""

    def __init__(self) -> None:
        self.uri = "bolt://db:7687"
        self.version = "5.26.30"
        self.rehearsed: list[str] = []
        self.rows: dict[str, Any] = {
            "engine/doctor/count_nodes": [{"nodes": 1234}],
            "engine/doctor/create_nodes": [{"created": 1}],
            "engine/doctor/read_constraints": [{"names": CONSTRAINTS}],
            "engine/doctor/read_procedures": lambda params: [{"names": params["names"]}],
            "engine/doctor/read_installed": lambda params: [{"names": params["names"]}],
            "engine/doctor/read_projections": [{"names": ["theirs"]}],
            "engine/doctor/read_indexes": [],
            "database/gds/read_gds_version": [{"version": "2.13.9"}],
        }

    async def read(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        assert set(params) == set(query.params) - set(BOUND)
        rows = self.rows[query.name]
        if isinstance(rows, Exception):
            raise rows
        return rows(params) if callable(rows) else rows

    async def rehearse(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        self.rehearsed.append(query.name)
        return await self.read(query, **params)


@pytest.fixture
def answers() -> Answers:
    """A healthy server."""
    return Answers()
