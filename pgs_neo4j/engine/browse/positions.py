"""Keeps where the places of a map stand, since that takes seconds to compute.

The positions of a generation never change. They stand on its node as one property of bytes, two
whole numbers for each place. A generation gets them with its first map.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import MapPlace

DIGITS = 4
"""To which positions are rounded."""
_KIND = np.dtype(np.uint16).newbyteorder("<")


async def read_positions(db: Database, generation: str) -> bytes:
    """Return the stored positions of a generation's map; empty without any."""
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
