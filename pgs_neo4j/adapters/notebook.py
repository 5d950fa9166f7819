"""The map of a graph as a widget for notebooks."""

from __future__ import annotations

from typing import Literal

import anywidget
import traitlets

from pgs_neo4j.adapters.map_module import (
    count_by_place,
    widget_data,
    widget_module,
    widget_sheet,
)
from pgs_neo4j.engine import PGS


class MapWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A map of partitions, colored by how much a session has read.

    A click sets ``place``, the id of a place on the map, and ``partition``: the same id if the
    place is a partition, None if it is a group of partitions. ``read`` counts the nodes read at
    each place, and ``unproven`` counts further nodes that were shown without proof. ``drawing`` is
    ``areas`` or ``network``.
    """

    _esm = widget_module()
    _css = widget_sheet()
    atlas = traitlets.Dict().tag(sync=True)
    read = traitlets.List(traitlets.Int()).tag(sync=True)
    unproven = traitlets.List(traitlets.Int()).tag(sync=True)
    drawing = traitlets.Enum(("areas", "network"), "areas").tag(sync=True)
    place = traitlets.Int(None, allow_none=True).tag(sync=True)
    partition = traitlets.Int(None, allow_none=True).tag(sync=True)


async def map_widget(
    pgs: PGS,
    graph: str | None = None,
    *,
    session: str = "default",
    drawing: Literal["areas", "network"] = "areas",
    within: int | None = None,
) -> MapWidget:
    """Return the map of a graph's current partitions as a widget.

    If ``within`` is set to the ``place`` of a group on another map, only this group is shown.
    Raises the errors of ``pgs.browse.map``.
    """
    partition_map = await pgs.browse.map(graph, within=within)
    reading = await pgs.browse.reading(graph, session)
    atlas, read = widget_data(partition_map, {one.partition: one.nodes_read for one in reading})
    unproven = count_by_place(partition_map, {one.partition: one.nodes_unproven for one in reading})
    return MapWidget(atlas=atlas, read=read, unproven=unproven, drawing=drawing)
