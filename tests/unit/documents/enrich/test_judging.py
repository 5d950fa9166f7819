"""Names whose entities are near by their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.documents.enrich import judging
from pgs_neo4j.documents.enrich.arbiter import close_pairs
from pgs_neo4j.documents.enrich.judging import NEAREST, near_pairs, read_vectors
from pgs_neo4j.documents.fold.resolution import Resolution
from tests.fakes.database import FakeDatabase, Row
from tests.unit.documents.enrich.test_arbiter import present

BLUE, IBM = ("BIG_BLUE", "Organization"), ("IBM", "Organization")


def vector(*values: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array(values, np.float32)


def test_only_near_names_of_one_type_are_a_pair() -> None:
    vectors = {
        IBM: vector(3, 0.1), BLUE: vector(1, 0), ("ACME", "Organization"): vector(0, 1),
        ("IBM", "Place"): vector(1, 0), ("OLD", "Organization"): vector(1, 0, 0),
    }  # fmt: skip
    assert near_pairs(vectors) == {(BLUE, IBM): pytest.approx(1.0, abs=0.01)}
    assert near_pairs({}) == {}


def test_an_entity_has_few_near_ones() -> None:
    alike = {(f"N{number:03}", "Person"): vector(1, number / 1000) for number in range(100)}
    pairs = near_pairs(alike)
    assert len(pairs) <= NEAREST * len(alike)
    first = [pair[1][0] for pair in pairs if pair[0] == ("N000", "Person")]
    assert first == ["N001", "N002", "N003", "N004", "N005"]


def test_near_names_are_asked_about_unless_numbers_or_people_speak_against_it() -> None:
    blue, ibm = present("Big Blue"), present("IBM")
    pair = (blue.named, ibm.named)
    both, near_ones = [blue, ibm], {pair: 0.9}
    assert close_pairs(both, Resolution(), ()) == []
    assert close_pairs(both, Resolution(), (), near=near_ones) == [pair]
    assert close_pairs(both, Resolution(), {pair}, near=near_ones) == []
    ruled = Resolution(rulings={ibm.named: ibm.named})
    assert close_pairs(both, ruled, (), near=near_ones) == []
    assert close_pairs([ibm], Resolution(), (), near=near_ones) == []
    one, other = present("Model 1"), present("Type 2")
    assert close_pairs([one, other], Resolution(), (), near={(one.named, other.named): 0.99}) == []


async def test_vectors_are_read_in_pages_and_not_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "PAGE", 2)
    ids = [f"entity:Person:N{number}" for number in range(5)]

    def page(sent: Row) -> list[Row]:
        rest = [id_ for id_ in ids if id_ > sent["after"]][: sent["limit"]]
        return [
            {"id": id_, "key": id_[14:], "type": "Person", "vector": [1.0, 0.0]} for id_ in rest
        ]

    models = [{"model": "m", "dimensions": 2}]
    db: Any = FakeDatabase(read_vector_models=models, read_vectors=page)
    assert {key for key, _ in await read_vectors(db, "docs")} == {f"N{n}" for n in range(5)}
    assert [sent["after"] for sent in db.params("read_vectors")] == ["", ids[1], ids[3]]
    monkeypatch.setattr(judging, "MOST_READ", 4)
    assert await read_vectors(db, "docs") == {}
    empty: Any = FakeDatabase(read_vector_models=[])
    assert await read_vectors(empty, "docs") == {}
