"""Seeds are marked while GDS reads them, and never longer."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.gds import seed_label
from pgs_neo4j.partitioning import seeds
from tests.fakes.database import FakeDatabase

LABEL = seed_label("papers")


async def test_marks_are_counted_and_removed_at_the_end() -> None:
    db: Any = FakeDatabase(set_seeds=[{"marked": 3}])
    async with seeds.mark_seeds(db, "papers", "g1") as marks:
        assert (marks.label, marks.count) == (LABEL, 3)
        assert db.params("delete_seeds") == []
    assert db.params("delete_seeds") == [{"label": LABEL}]


async def test_marks_are_removed_when_the_work_fails() -> None:
    db: Any = FakeDatabase(set_seeds=[{"marked": 3}], delete_seeds=DatabaseError("gone"))
    with pytest.raises(ZeroDivisionError):
        async with seeds.mark_seeds(db, "papers", "g1"):
            raise ZeroDivisionError
    assert db.params("delete_seeds") == [{"label": LABEL}]


async def test_the_label_exists_before_it_is_cleared() -> None:
    db: Any = FakeDatabase()
    await seeds.prepare(db, "papers")
    assert [name for name, _ in db.sent] == ["create_seed_labels", "delete_seeds"]
    assert all(params == {"label": LABEL} for _, params in db.sent)
