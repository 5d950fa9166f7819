"""Seeds are marked while GDS reads them, and never longer."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database.gds import seed_label
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.pgs.partitioning import build
from tests.fakes.database import FakeDatabase


async def test_marks_are_removed_when_the_work_fails() -> None:
    db: Any = FakeDatabase(set_seeds=[{"marked": 3}], delete_seeds=DatabaseError("gone"))
    with pytest.raises(ZeroDivisionError):
        async with build.mark_seeds(db, "papers", "g1") as marks:
            assert (marks.label, marks.count) == (seed_label("papers"), 3)
            assert db.params("delete_seeds") == []
            raise ZeroDivisionError
    assert db.params("delete_seeds") == [{"label": marks.label}]
