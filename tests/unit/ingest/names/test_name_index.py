"""The index of names: what is stored of a name, and what a look-up asks for."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.ingest.fold.resolution import MOST_BLOCKS, VariantResolver
from pgs_neo4j.ingest.names.index import (
    IndexedName,
    name_row,
    placed_blocks,
    read_candidates,
    read_present,
)
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.variants.likeness import PresentName, present_name
from tests.fakes.database import FakeDatabase, Row

RESOLVER = VariantResolver()


def present(name: str, kind: str = "Person", *, sure: bool = True) -> PresentName:
    return present_name(normalize_name(name), kind, [name], sure=sure)


def indexed(name: str, kind: str = "Person", *, sure: bool = True) -> IndexedName:
    found = present(name, kind, sure=sure)
    return IndexedName(found, found.named)


class ManyBlocks(VariantResolver):
    """A resolver with more blocks than there are indexes."""

    def blocks(self, name: PresentName) -> tuple[str | None, ...]:
        return tuple(f"{name.key} {place}" for place in range(MOST_BLOCKS + 3))


@pytest.mark.parametrize(
    ("name", "sure", "traits"),
    [
        ("Marie Curie", True, "sp"),
        ("NATO", True, "scb"),
        ("radium", False, ""),
        ("UN", False, "cb"),
    ],
)
def test_traits_are_letters(name: str, sure: bool, traits: str) -> None:
    assert indexed(name, sure=sure).row["traits"] == traits


@pytest.mark.parametrize("name", ["Marie Curie", "NATO", "radium", "M. Curie", "Łódź", "東京"])
@pytest.mark.parametrize("sure", [True, False])
async def test_a_name_is_read_as_it_was_stored(name: str, sure: bool) -> None:
    one = IndexedName(present(name, sure=sure), ("PIERRE", "Concept"))
    db: Any = FakeDatabase(read_present=[{"names": [one.row]}])
    assert await read_present(db, "docs", [one.name.key]) == {one.name.named: one}


async def test_no_key_and_no_block_asks_for_nothing() -> None:
    db: Any = FakeDatabase()
    assert await read_present(db, "docs", []) == {}
    assert await read_candidates(db, "docs", []) == {}
    assert db.sent == []


def test_variants_share_a_stored_block() -> None:
    rows = [name_row(indexed(name), RESOLVER) for name in ("M. Curie", "Marie Curie")]
    shared = [
        place
        for place in range(1, MOST_BLOCKS + 1)
        if rows[0][f"block_{place}"] == rows[1][f"block_{place}"] is not None
    ]
    assert shared == [5]


def test_blocks_beyond_the_indexes_are_left_out() -> None:
    placed = placed_blocks(present("Paris"), ManyBlocks())
    assert placed == [(place, f"PARIS {place}") for place in range(MOST_BLOCKS)]
    row: Row = name_row(indexed("Paris"), ManyBlocks())
    assert sorted(key for key in row if key.startswith("block")) == [
        f"block_{place}" for place in range(1, MOST_BLOCKS + 1)
    ]
