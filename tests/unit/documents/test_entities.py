"""Which entity someone means: by a name, by a type and a name, or by an id."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.documents.entities import find_entity
from pgs_neo4j.errors import UsageError
from tests.fakes.database import FakeDatabase, Row

MARIE, PARIS, HERO = ("MARIE_CURIE", "Person"), ("PARIS", "City"), ("PARIS", "Person")


def row(key: str, kind: str, entity: tuple[str, str]) -> Row:
    return {"key": key, "type": kind, "entity_key": entity[0], "entity_type": entity[1]}


ROWS = [
    row("MARIE_CURIE", "Person", MARIE),
    row("M._CURIE", "Person", MARIE),
    row("PARIS", "City", PARIS),
    row("PARIS", "Person", HERO),
    row("LUTETIA", "Person", PARIS),
    row("ODE:_TO_JOY", "Work", ("ODE:_TO_JOY", "Work")),
]


def database() -> Any:
    return FakeDatabase(find=lambda params: [one for one in ROWS if one["key"] in params["keys"]])


@pytest.mark.parametrize(
    ("wanted", "entity"),
    [
        ("Marie Curie", MARIE),
        ("  m.  curie ", MARIE),
        ("person:M. Curie", MARIE),
        ("entity:Person:M._CURIE", MARIE),
        ("City:Paris", PARIS),
        ("entity:Person:PARIS", HERO),
        ("City:Lutetia", PARIS),
        ("Person:Lutetia", PARIS),
        ("Ode: to Joy", ("ODE:_TO_JOY", "Work")),
        ("Work:Ode: to Joy", ("ODE:_TO_JOY", "Work")),
    ],
)
async def test_one_entity_is_meant(wanted: str, entity: tuple[str, str]) -> None:
    assert await find_entity(database(), "docs", wanted) == entity


async def test_an_id_means_its_entity_though_another_has_such_a_name() -> None:
    merged = row("PARIS", "Person", MARIE)
    db: Any = FakeDatabase(find=lambda params: [merged, row("PARIS", "Person", HERO)])
    assert await find_entity(db, "docs", "entity:Person:PARIS") == HERO


@pytest.mark.parametrize("wanted", ["Pierre", "City:Marie Curie", "", ":", "entity:", "Person:"])
async def test_an_entity_that_is_not_there_is_one_sentence(wanted: str) -> None:
    with pytest.raises(UsageError, match=r"graph docs has no entity .*; 'pgs entities list"):
        await find_entity(database(), "docs", wanted)
