"""Opening the client: which servers are refused, and why."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseVersionError, GDSMissingError, QueryError
from pgs_neo4j.gds import Owner, open_gds
from tests.fakes.database import FakeDatabase
from tests.unit.gds.conftest import MakeGDS


async def test_a_server_without_gds_is_told_what_to_install() -> None:
    db: Any = FakeDatabase(read_gds_version=QueryError("unknown function gds.version"))
    with pytest.raises(GDSMissingError, match="install the graph-data-science plugin"):
        await open_gds(db)


@pytest.mark.parametrize("version", ["2.12.9", "2.6.0", "1.8.8"])
async def test_an_old_library_is_refused_with_both_versions(version: str) -> None:
    db: Any = FakeDatabase(read_gds_version=[{"version": version}])
    with pytest.raises(DatabaseVersionError, match=rf"{version}; 2\.13 or newer"):
        await open_gds(db)


def test_an_owner_changes_nothing_else(make_gds: MakeGDS) -> None:
    gds = make_gds()
    owned = gds.owned_by(Owner("papers", 3))
    assert owned.owner == Owner("papers", 3)
    assert (owned.db, owned.client, owned.runner) == (gds.db, gds.client, gds.runner)
    assert gds.owner is None
