"""Opening the client, and the names of its projections."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pgs_neo4j.database.gds import PREFIX, Owner, open_gds
from pgs_neo4j.database.gds.catalog import NAME_PATTERN, drop_at_end, make_name, name_digest
from pgs_neo4j.errors import DatabaseError, DatabaseVersionError, GDSMissingError, QueryError
from tests.fakes.database import FakeDatabase
from tests.unit.database.gds.conftest import MakeGDS


async def test_a_server_without_gds_is_told_what_to_install() -> None:
    db: Any = FakeDatabase(read_gds_version=QueryError("unknown function gds.version"))
    with pytest.raises(GDSMissingError, match="install the graph-data-science plugin"):
        await open_gds(db)


@pytest.mark.parametrize("version", ["2.12.9", "2.6.0", "1.8.8"])
async def test_an_old_library_is_refused_with_both_versions(version: str) -> None:
    db: Any = FakeDatabase(read_gds_version=[{"version": version}])
    with pytest.raises(DatabaseVersionError, match=rf"{version}; 2\.13 or newer"):
        await open_gds(db)


def test_a_name_carries_the_graph_and_the_fence_and_is_new_each_time(make_gds: MakeGDS) -> None:
    gds = make_gds(owner=Owner("my papers; DROP", 12))
    names = {make_name(gds) for _ in range(20)}
    assert len(names) == 20
    for name in names:
        assert re.fullmatch(NAME_PATTERN, name)
        assert name.startswith(f"{PREFIX}{name_digest('my papers; DROP')}_12_")
    assert make_name(make_gds()).split("_")[1:3] == [name_digest(""), "0"]


async def test_a_failure_to_drop_does_not_hide_the_result(make_gds: MakeGDS) -> None:
    gds = make_gds()
    db: Any = gds.db

    def refuse(text: str, params: dict[str, Any]) -> list[dict[str, Any]]:
        raise DatabaseError("gone")

    db.text_answer = refuse
    async with drop_at_end(gds, "pgs_1"):
        result = 1
    assert result == 1
    assert len(db.sent) == 1
