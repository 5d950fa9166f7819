"""Decides which types of one name are the same entity."""

from __future__ import annotations

from collections.abc import Mapping

STRAY_MOST = 2
"""Mentions of a type that may be a slip. Few, so that little moves when it turns out to be none."""
STRAY_RATIO = 3
"""Times that the commonest type of the name is mentioned more often, at least."""


def assign_types(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the type of the entity that mentions of each type belong to.

    A stray type joins the commonest one. Others stay apart: Paris the person and Paris the city are
    two entities. ``counts`` has the mentions by type; those without any are left out.
    """
    present = {kind: count for kind, count in counts.items() if count > 0}
    if not present:
        return {}
    most, main = min((-count, kind) for kind, count in present.items())
    return {
        kind: main if count <= STRAY_MOST and count * STRAY_RATIO <= -most else kind
        for kind, count in present.items()
    }
