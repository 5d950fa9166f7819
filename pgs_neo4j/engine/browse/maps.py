"""Draws the map of a generation: what stands on it, where, and what links its places.

Placing them takes seconds, and the positions of a generation never change. So they are stored with
its first map: on its node, as one property of bytes, two whole numbers for each place.
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
"""Places of one map; of a graph with more partitions, units of its hierarchy are shown first."""
MOST_LINKS = 5000
MOST_ARCS = 300
"""Pairs of partitions that analogies link, and flags."""
FRAME = (1.6, 1.0)
DIGITS = 4
"""Decimal places of a position."""
_KIND = np.dtype(np.uint16).newbyteorder("<")
Links = dict[tuple[int, int], float]


def draw_map(
    generation: str,
    partitions: Sequence[Partition],
    units: Sequence[Unit] = (),
    within: int | None = None,
    positions: bytes = b"",
) -> PartitionMap:
    """Return the map of a generation, or of the partitions beneath a unit of the level shown.

    Without a hierarchy, the largest partitions are shown. It takes seconds for the most places,
    unless stored ``positions`` fit. Raises KeyError if no unit on the map has the id ``within``.
    """
    level, beneath = _groups(partitions, units)
    if within is not None:
        wanted = set(beneath[within])
        level, beneath = 0, {}
        partitions = [part for part in partitions if part.id in wanted]
    places = _units(units, level, beneath) if level else _single(partitions)
    places = sorted(places, key=lambda place: (-place.nodes, place.id))[:MOST_PLACES]
    links = _links(partitions, places)
    return PartitionMap(
        generation=generation,
        level=level,
        places=_placed(places, links, positions),
        links=_strongest(links),
    )


def _groups(
    partitions: Sequence[Partition], units: Sequence[Unit]
) -> tuple[int, Mapping[int, Sequence[int]]]:
    """Return the lowest level with few enough units, and the partitions of each; 0 if all fit."""
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


def _single(partitions: Iterable[Partition]) -> list[MapPlace]:
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


def _units(
    units: Iterable[Unit], level: int, beneath: Mapping[int, Sequence[int]]
) -> list[MapPlace]:
    return [
        MapPlace(id=unit.id, label=unit.label, nodes=unit.size, partitions=tuple(beneath[unit.id]))
        for unit in units
        if unit.level == level and unit.id in beneath
    ]


def _links(partitions: Iterable[Partition], places: Sequence[MapPlace]) -> Links:
    """Return the weight between two places, by their positions, the lower one first."""
    at = {id_: position for position, place in enumerate(places) for id_ in place.partitions}
    shared: Links = {}
    for part in partitions:
        for one in part.adjacent:
            # Both partitions list what they share, unless the list of one was cut.
            pair = (min(part.id, one.id), max(part.id, one.id))
            shared[pair] = max(shared.get(pair, 0.0), one.weight)
    weights: Links = defaultdict(float)
    for (first, second), weight in shared.items():
        if first in at and second in at and at[first] != at[second]:
            ends = sorted((at[first], at[second]))
            weights[ends[0], ends[1]] += weight
    return dict(weights)


def _placed(places: Sequence[MapPlace], links: Links, positions: bytes) -> tuple[MapPlace, ...]:
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
            area=_rounded(area),
        )
        for place, (x, y), area in zip(places, centers, areas, strict=True)
    )


def _rounded(area: Rect) -> tuple[float, float, float, float]:
    return round(area.x, 4), round(area.y, 4), round(area.width, 4), round(area.height, 4)


def _strongest(links: Links) -> tuple[tuple[int, int, float], ...]:
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
    """Return the positions of places, in their order."""
    positions = np.array([(place.x, place.y) for place in places], np.float64)
    return bytes(np.rint(positions * float(10**DIGITS)).astype(_KIND).tobytes())


def unpack(positions: bytes, count: int) -> NDArray[np.float64] | None:
    """Return positions ``(count, 2)`` from 0 to 1; None if those stored are of other places."""
    if not count or len(positions) != 2 * count * _KIND.itemsize:
        return None
    numbers = np.frombuffer(positions, _KIND).reshape(count, 2).astype(np.float64)
    return numbers / float(10**DIGITS)


async def read_analogies(db: Database, view: GraphView) -> tuple[PartitionAnalogy, ...]:
    """Return the pairs of current partitions that analogies link, most links first."""
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
    """Return the flags of a session between current partitions, those of the latest run first."""
    rows = await db.read(
        queries.get("engine/browse/read_flags"),
        graph=graph,
        session=keys.session_uid(graph, session),
        limit=MOST_ARCS,
    )
    return tuple(PartitionFlag(**row) for row in rows)
