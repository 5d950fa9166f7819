"""Positions on a map are kept as bytes, and taken only for the places that they are of."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.browse import maps
from pgs_neo4j.browse.maps import draw_map
from pgs_neo4j.browse.positions import pack, unpack
from pgs_neo4j.model import Adjacent, MapPlace, Partition

PARTS = tuple(
    Partition(
        id=id_, size=100 - id_, tokens=1, adjacent=(Adjacent(id=id_ % 40 + 1, edges=1, weight=1.0),)
    )
    for id_ in range(1, 41)
)


def never(*_: Any) -> Any:
    raise AssertionError("positions were computed again")


def test_a_map_of_kept_positions_is_the_same_and_computes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = draw_map("g1", PARTS)
    kept = pack(drawn.places)
    assert len(kept) == 4 * len(PARTS)
    monkeypatch.setattr(maps, "lay_out", never)
    assert draw_map("g1", PARTS, positions=kept) == drawn


@pytest.mark.parametrize("kept", [b"", b"\0" * 4, b"\0" * 161, b"\0" * 400])
def test_positions_of_other_places_are_computed(kept: bytes) -> None:
    assert draw_map("g1", PARTS, positions=kept) == draw_map("g1", PARTS)


def test_the_corners_of_a_map_are_kept_exactly() -> None:
    ends = (0.0, 1.0, 0.5, 0.1234, 0.9999)
    places = [
        MapPlace(id=1, label="", nodes=1, partitions=(1,), x=x, y=y) for x in ends for y in ends
    ]
    positions = unpack(pack(places), len(places))
    assert positions is not None
    assert [(float(x), float(y)) for x, y in positions] == [(one.x, one.y) for one in places]


def test_a_map_of_nothing_has_no_positions() -> None:
    assert (pack([]), unpack(b"", 0)) == (b"", None)
    assert draw_map("g1", ()).places == ()
