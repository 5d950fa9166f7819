"""Says how each name of an entity came to it: by its letters, by its type, or by a ruling."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.resolution import JUDGED, Judged, Resolver, preference
from pgs_neo4j.documents.fold.rulings import Ruled, rulings_in_force
from pgs_neo4j.text.variants.likeness import PresentName

NONE: Judged = MappingProxyType({})
LEADS, MERGED, APART, STRAY = "leads", "merged", "apart", "type"


@dataclass(frozen=True, slots=True)
class Joined:
    """How a name came to its entity, and by which other name; itself if by none."""

    how: str
    to: Named


def explain_names(
    names: NameTallies, entity: Named, ruled: Ruled, resolver: Resolver, judged: Judged = NONE
) -> dict[Named, Joined]:
    """Return for each name of an entity how it came to it; ``names`` are all of its names."""
    force = rulings_in_force(ruled)
    pinned = {*force, *force.values()}
    types = names.types(pinned)
    present = names.present(types)
    leaders = [present[named] for named in sorted(present) if named == entity or named in pinned]
    return {
        (key, kind): Joined(STRAY, (key, main))
        if main != kind
        else _joined(present[key, kind], entity, ruled, leaders, resolver, judged)
        for key, own in types.items()
        for kind, main in own.items()
    }


def _joined(
    name: PresentName,
    entity: Named,
    ruled: Ruled,
    leaders: list[PresentName],
    resolver: Resolver,
    judged: Judged,
) -> Joined:
    ruling = ruled.get(name.named)
    if ruling is not None and ruling.into is not None:
        return Joined(MERGED, ruling.into)
    if ruling is not None and ruling.apart:
        return Joined(APART, name.named)
    same = judged.get(name.named, frozenset())
    kinds = {
        one.named: resolver.variant_kind(name, one) or (JUDGED if one.named in same else None)
        for one in leaders
    }
    if name.named == entity or name.named in kinds:
        return Joined(LEADS, name.named)
    fitting = {other: kind for other, kind in kinds.items() if kind is not None}
    leader = min(fitting, key=lambda other: preference(fitting[other]), default=entity)
    return Joined(fitting.get(leader, "other"), leader)
