"""Draws up the map of a generation: what stands on it, and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pgs_neo4j.engine.browse.positions import DIGITS, unpack
from pgs_neo4j.export.treemap import Rect, squarify
from pgs_neo4j.graph.layout import lay_out
from pgs_neo4j.model import MapPlace, Partition, PartitionMap, Unit

MOST_PLACES = 1000
"""Places of one map; of a graph with more partitions, units of its hierarchy are shown first."""
MOST_LINKS = 5000
FRAME = (1.6, 1.0)

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
