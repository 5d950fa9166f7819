"""A GDS whose client and database are doubles."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.database.gds import GDS, Owner
from tests.fakes.database import Answer, FakeDatabase

MakeGDS = Callable[..., GDS]


@pytest.fixture
def make_gds() -> MakeGDS:
    """Makes a GDS; ``client`` and ``runner`` are attributes a test names, the rest answers."""

    def make(
        client: object = None, runner: object = None, owner: Owner | None = None, **answers: Answer
    ) -> GDS:
        db: Any = FakeDatabase(**answers)
        db.text_answer = lambda text, params: [{"running": 0}]
        parts: Any = (client or SimpleNamespace(), runner or SimpleNamespace())
        return GDS(db=db, client=parts[0], runner=parts[1], version="2.13.4", owner=owner)

    return make
