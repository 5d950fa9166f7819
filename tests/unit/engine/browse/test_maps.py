"""What stands on the map of a generation, and its positions, which are kept as bytes."""

from __future__ import annotations

import pytest

from pgs_neo4j.engine.browse import maps
from pgs_neo4j.engine.browse.maps import draw_map, pack, unpack
from pgs_neo4j.model import Adjacent, MapPlace, Partition, Unit


def part(id_: int, size: int = 10, parent: int | None = None, **near: float) -> Partition:
    adjacent = tuple(
        Adjacent(id=int(name[1:]), edges=1, weight=weight) for name, weight in near.items()
    )
    return Partition(
        id=id_, size=size, tokens=1, label=f"topic {id_}", parent=parent, adjacent=adjacent
    )


FOUR = (
    part(1, 10, 1, p2=3.0, p3=1.0),
    part(2, 40, 1, p1=3.0),
    part(3, 20, 2, p4=2.0),  # its list leaves partition 1 out
    part(4, 30, 2, p3=2.0),
)
UNITS = (
    Unit(id=1, level=1, size=50, partitions=2, label="one", parent=1),
    Unit(id=2, level=1, size=50, partitions=2, label="two", parent=1),
    Unit(id=1, level=2, size=100, partitions=4, label="all"),
)


def test_partitions_stand_by_size_and_fill_the_frame_and_links_count_once() -> None:
    drawn = draw_map("g1", FOUR, UNITS)
    assert (drawn.generation, drawn.level) == ("g1", 0)
    assert [place.id for place in drawn.places] == [2, 4, 3, 1]
    assert [place.partitions for place in drawn.places] == [(2,), (4,), (3,), (1,)]
    # By position: 2 and 1, 4 and 3, 3 and 1.
    assert drawn.links == ((0, 3, 3.0), (1, 2, 2.0), (2, 3, 1.0))
    places = draw_map("g1", FOUR).places
    sizes = {place.id: place.area[2] * place.area[3] for place in places}
    assert sum(sizes.values()) == pytest.approx(1.6, abs=1e-3)
    assert sizes[2] == pytest.approx(4 * sizes[1], rel=1e-2)


def test_of_too_many_partitions_units_are_shown_and_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "MOST_PLACES", 3)
    drawn = draw_map("g1", FOUR, UNITS)
    assert drawn.level == 1
    assert [(one.id, one.partitions, one.nodes) for one in drawn.places] == [
        (1, (1, 2), 50),
        (2, (3, 4), 50),
    ]
    assert drawn.links == ((0, 1, 1.0),)
    within = draw_map("g1", FOUR, UNITS, within=2)
    assert (within.level, [one.id for one in within.places]) == (0, [4, 3])
    with pytest.raises(KeyError):
        draw_map("g1", FOUR, UNITS, within=7)
    monkeypatch.setattr(maps, "MOST_PLACES", 1)
    top = draw_map("g1", FOUR, UNITS)
    assert (top.level, [one.partitions for one in top.places]) == (2, [(1, 2, 3, 4)])


def test_without_a_hierarchy_the_largest_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "MOST_PLACES", 2)
    flat = [part(id_, size) for id_, size in ((1, 5), (2, 9), (3, 7))]
    drawn = draw_map("g1", flat)
    assert (drawn.level, [one.id for one in drawn.places]) == (0, [2, 3])


PARTS = tuple(
    Partition(
        id=id_, size=100 - id_, tokens=1, adjacent=(Adjacent(id=id_ % 40 + 1, edges=1, weight=1.0),)
    )
    for id_ in range(1, 41)
)


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
