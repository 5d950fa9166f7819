"""Draws the map of a generation: its places, their positions, and the links between them.

Computing the positions takes seconds, but they never change for a generation. So the first map
stores the positions on the generation's node as bytes, two whole numbers for each place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.browse.nodes import HEAD, GraphView, title_of
from pgs_neo4j.export.treemap import Rect, squarify
from pgs_neo4j.graph.layout import lay_out
from pgs_neo4j.model import MapPlace, Partition, PartitionAnalogy, PartitionFlag, PartitionMap, Unit
from pgs_neo4j.pgs.runs import keys

MOST_PLACES = 1000
"""Maximum places on one map. A graph with more partitions is shown by units of its hierarchy."""
MOST_LINKS = 5000
MOST_ARCS = 300
"""Maximum number of pairs of partitions linked by analogies, and maximum number of flags."""
FRAME = (1.6, 1.0)
"""Width and height of the treemap."""
DIGITS = 4
"""Decimal places of a position, as a share of the map from 0 to 1. Four digits fit in 16 bits."""
_STORED_TYPE = np.dtype(np.uint16).newbyteorder("<")
Links = dict[tuple[int, int], float]


def draw_map(
    generation: str,
    partitions: Sequence[Partition],
    units: Sequence[Unit] = (),
    within: int | None = None,
    positions: bytes = b"",
) -> PartitionMap:
    """Return the map of a generation, or a map of the partitions in one unit.

    ``within`` is the id of the unit. Without a hierarchy, the largest partitions are shown. Drawing
    takes seconds if there are many places, unless stored ``positions`` fit. Raises KeyError if no
    unit on the map has the id ``within``.
    """
    level, beneath = _choose_level(partitions, units)
    if within is not None:
        wanted = set(beneath[within])
        level, beneath = 0, {}
        partitions = [part for part in partitions if part.id in wanted]
    places = (
        _make_unit_places(units, level, beneath) if level else _make_partition_places(partitions)
    )
    places = sorted(places, key=lambda place: (-place.nodes, place.id))[:MOST_PLACES]
    links = _sum_links(partitions, places)
    return PartitionMap(
        generation=generation,
        level=level,
        places=_position_places(places, links, positions),
        links=_list_strongest(links),
    )


def _choose_level(
    partitions: Sequence[Partition], units: Sequence[Unit]
) -> tuple[int, Mapping[int, Sequence[int]]]:
    """Return the lowest level with few enough units, and the partitions in each unit, by id.

    The level is 0, without units, if all partitions fit on the map, or if there is no hierarchy.
    """
    beneath: dict[int, list[int]] = defaultdict(list)
    for part in partitions:
        if part.parent is not None:
            beneath[part.parent].append(part.id)
    level = 1
    if len(partitions) <= MOST_PLACES or not beneath:
        return 0, {}
    while len(beneath) > MOST_PLACES:
        above: dict[int, list[int]] = defaultdict(list)
        for unit in units:
            if unit.level == level and unit.parent is not None:
                above[unit.parent] += beneath.get(unit.id, [])
        if not above:
            break
        level, beneath = level + 1, above
    return level, dict(beneath)


def _make_partition_places(partitions: Iterable[Partition]) -> list[MapPlace]:
    return [
        MapPlace(
            id=part.id,
            label=part.label,
            nodes=part.size,
            partitions=(part.id,),
            pool=part.pool,
        )
        for part in partitions
    ]


def _make_unit_places(
    units: Iterable[Unit], level: int, beneath: Mapping[int, Sequence[int]]
) -> list[MapPlace]:
    return [
        MapPlace(id=unit.id, label=unit.label, nodes=unit.size, partitions=tuple(beneath[unit.id]))
        for unit in units
        if unit.level == level and unit.id in beneath
    ]


def _sum_links(partitions: Iterable[Partition], places: Sequence[MapPlace]) -> Links:
    """Return the weight of each link, by the indexes of its two places, the lower index first."""
    at = {id_: position for position, place in enumerate(places) for id_ in place.partitions}
    shared: Links = {}
    for part in partitions:
        for neighbor in part.adjacent:
            # Both partitions list the same weight, unless the list of one of them was cut.
            pair = (min(part.id, neighbor.id), max(part.id, neighbor.id))
            shared[pair] = max(shared.get(pair, 0.0), neighbor.weight)
    weights: Links = defaultdict(float)
    for (first, second), weight in shared.items():
        if first in at and second in at and at[first] != at[second]:
            ends = sorted((at[first], at[second]))
            weights[ends[0], ends[1]] += weight
    return dict(weights)


def _position_places(
    places: Sequence[MapPlace], links: Links, positions: bytes
) -> tuple[MapPlace, ...]:
    centers = unpack(positions, len(places))
    if centers is None:
        pairs = np.array(list(links), np.int64).reshape(-1, 2)
        centers = lay_out(len(places), pairs, np.array(list(links.values())))
    areas = squarify([place.nodes for place in places], *FRAME)
    return tuple(
        replace(
            place,
            x=round(float(x), DIGITS),
            y=round(float(y), DIGITS),
            area=_round_area(area),
        )
        for place, (x, y), area in zip(places, centers, areas, strict=True)
    )


def _round_area(area: Rect) -> tuple[float, float, float, float]:
    return round(area.x, 4), round(area.y, 4), round(area.width, 4), round(area.height, 4)


def _list_strongest(links: Links) -> tuple[tuple[int, int, float], ...]:
    ordered = sorted(links.items(), key=lambda item: (-item[1], item[0]))
    return tuple((a, b, weight) for (a, b), weight in ordered[:MOST_LINKS])


async def read_positions(db: Database, generation: str) -> bytes:
    """Return the stored positions of a generation's map; empty if there are none."""
    rows = await db.read(queries.get("engine/browse/read_positions"), generation=generation)
    return bytes(rows[0]["positions"] or b"") if rows else b""


async def write_positions(db: Database, generation: str, places: Sequence[MapPlace]) -> None:
    """Store the positions of a generation's map, unless the generation is gone."""
    await db.write(
        queries.get("engine/browse/set_positions"), generation=generation, positions=pack(places)
    )


def pack(places: Sequence[MapPlace]) -> bytes:
    """Encode the positions of places as bytes, in the order of the places."""
    positions = np.array([(place.x, place.y) for place in places], np.float64)
    return bytes(np.rint(positions * float(10**DIGITS)).astype(_STORED_TYPE).tobytes())


def unpack(positions: bytes, count: int) -> NDArray[np.float64] | None:
    """Decode positions ``(count, 2)`` from 0 to 1; None if there are not ``count`` of them."""
    if not count or len(positions) != 2 * count * _STORED_TYPE.itemsize:
        return None
    numbers = np.frombuffer(positions, _STORED_TYPE).reshape(count, 2).astype(np.float64)
    return numbers / float(10**DIGITS)


async def read_analogies(db: Database, view: GraphView) -> tuple[PartitionAnalogy, ...]:
    """Return the pairs of current partitions linked by analogies, most links first."""
    rows = await db.read(
        queries.get("engine/browse/read_analogies"),
        graph=view.name,
        labels=list(view.mapping.labels),
        text=view.mapping.text_properties,
        title=view.mapping.title_properties,
        key=view.mapping.key_properties,
        head=HEAD,
        limit=MOST_ARCS,
    )
    return tuple(
        PartitionAnalogy(
            first=row["first"],
            second=row["second"],
            links=row["links"],
            titles=(title_of(row["ends"][0]), title_of(row["ends"][1])),
        )
        for row in rows
    )


async def read_flags(db: Database, graph: str, session: str) -> tuple[PartitionFlag, ...]:
    """Return the flags of a session between current partitions, the latest run first."""
    rows = await db.read(
        queries.get("engine/browse/read_flags"),
        graph=graph,
        session=keys.session_uid(db.scope, graph, session),
        limit=MOST_ARCS,
    )
    return tuple(PartitionFlag(**row) for row in rows)
