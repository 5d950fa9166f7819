"""Finds the nodes that only need another name when names move to another entity.

Where a fuller spelling takes the lead, nearly all mentions of an entity belong to another one. Its
node becomes that of the other, with all of its relationships, so that a hub is not written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pgs_neo4j.ingest.fold.contribution import Named
from pgs_neo4j.ingest.fold.folding import NameTallies
from pgs_neo4j.ingest.fold.rows import Belonging


def renamed_entities(stay: NameTallies, old: Belonging, new: Belonging) -> dict[Named, Named]:
    """Return the entities whose nodes become those of others, each with that other one.

    A node goes where most of its staying mentions belong, unless another brings more there. One
    whose id is taken gets an id that another one leaves. The result does not depend on any order.
    """
    brought: Counter[tuple[Named, Named]] = Counter()
    for key, own in stay.by_key.items():
        for kind, tally in own.items():
            if tally.count:
                brought[old[key][kind], new[key][kind]] += tally.count
    if all(before == after for before, after in brought):
        return {}
    placed = _best_places(brought)
    taken, standing = (
        {*placed.values()},
        {entity for own in old.values() for entity in own.values()},
    )
    homeless = sorted(entity for entity in standing & taken if entity not in placed)
    left = sorted(placed.keys() - taken)
    placed |= dict(zip(homeless, left, strict=False))
    return {before: after for before, after in sorted(placed.items()) if before != after}


def _best_places(brought: Mapping[tuple[Named, Named], int]) -> dict[Named, Named]:
    """Return one place for each entity and one entity for each place, most mentions first."""
    placed: dict[Named, Named] = {}
    taken: set[Named] = set()
    for before, after in sorted(
        brought, key=lambda pair: (-brought[pair], pair[0] != pair[1], pair)
    ):
        if before not in placed and after not in taken:
            placed[before] = after
            taken.add(after)
    return placed
