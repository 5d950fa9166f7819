"""Handles users' rulings on names and a model's judgments on pairs, and makes rows for both.

A name that is merged into another keeps its earlier rulings. So a split undoes one merge, and
restores exactly the state before this merge. A judgment makes one name a variant of the other, as
similar letters do. So a judgment does not chain names, has no direction, and is overridden by
rulings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import Judged
from pgs_neo4j.graph.hashes import digest


@dataclass(frozen=True, slots=True)
class Ruling:
    """A user's ruling on one name.

    The name belongs with the name ``into``. If ``into`` is None, ``apart`` means that the name is
    an entity by itself.
    """

    into: Named | None = None
    apart: bool = False


Ruled = Mapping[Named, Ruling]
"""Rulings by name, exactly as users made them."""


def rulings_in_force(ruled: Ruled) -> dict[Named, Named]:
    """Return, for each name with a ruling, the name that it belongs with after all merges."""
    return {named: root_of(ruled, named) for named in ruled}


def root_of(ruled: Ruled, named: Named) -> Named:
    """Return the name that a name belongs with after all merges; itself without a merge."""
    return [*merges_of(ruled, named)][-1]


def merges_of(ruled: Ruled, named: Named) -> Iterator[Named]:
    """Yield a name, and then step by step the names into which it was merged.

    The iteration ends before a name would repeat.
    """
    passed = {named}
    yield named
    while named in ruled and (into := ruled[named].into) is not None and into not in passed:
        passed.add(into)
        yield into
        named = into


def merge_names(ruled: Ruled, named: Named, into: Named) -> dict[Named, Ruling]:
    """Return rulings that merge a name, and all names that belong with it, into another name."""
    own, other = root_of(ruled, named), root_of(ruled, into)
    if own == other:
        return {**ruled}
    return {**ruled, own: replace(ruled.get(own, Ruling()), into=other)}


def part_name(ruled: Ruled, named: Named) -> dict[Named, Ruling]:
    """Return rulings that make a name an entity by itself, unless the name was merged."""
    return {**ruled, named: replace(ruled.get(named, Ruling()), apart=True)}


def take_back_merge(ruled: Ruled, named: Named) -> dict[Named, Ruling]:
    """Return rulings without the last merge in the chain that starts at a name."""
    *passed, _ = merges_of(ruled, named)
    if not passed:
        return {**ruled}
    former = replace(ruled[passed[-1]], into=None)
    rest = {other: ruling for other, ruling in ruled.items() if other != passed[-1]}
    return {**rest, passed[-1]: former} if former.apart else rest


def merged_into(ruled: Ruled, named: Named) -> list[Named]:
    """Return the names that were directly merged into a name."""
    return sorted(other for other, ruling in ruled.items() if ruling.into == named)


def affected_names(former: Ruled, ruled: Ruled) -> set[Named]:
    """Return the names whose final name changes between two rulings.

    Their old and new final names are included.
    """
    before, after = rulings_in_force(former), rulings_in_force(ruled)
    return {named for pair in {*before.items()} ^ {*after.items()} for named in pair}


def changed_rulings(former: Ruled, ruled: Ruled) -> tuple[dict[Named, Ruling], list[Named]]:
    """Return the rulings to store, and the names whose rulings have to be deleted."""
    stored = {named: one for named, one in ruled.items() if former.get(named) != one}
    return stored, sorted(former.keys() - ruled.keys())


@dataclass(frozen=True, slots=True)
class Judgment:
    """A model's judgment on two names of one type; the names are in alphabetical order."""

    one: Named
    other: Named
    same: bool

    @property
    def pair(self) -> tuple[Named, Named]:
        """Both names, in alphabetical order."""
        return self.one, self.other


def group_judged_names(judgments: Iterable[Judgment]) -> Judged:
    """Return, for each name, the names that a model judged to mean the same thing."""
    mates: dict[Named, set[Named]] = defaultdict(set)
    for judgment in judgments:
        if judgment.same:
            mates[judgment.one].add(judgment.other)
            mates[judgment.other].add(judgment.one)
    return {named: frozenset(others) for named, others in mates.items()}


def ruling_id(named: Named) -> str:
    """Return the id of the ruling on a name; it is unique within a graph."""
    return f"ruling:{named[1]}:{named[0]}"


def ruling_rows(ruled: Mapping[Named, Ruling], judged: Iterable[Judgment]) -> list[Row]:
    """Return the rows of the nodes for rulings, sorted by name, and then for judgments."""
    rulings = [_ruling_row(named, one) for named, one in sorted(ruled.items())]
    return [*rulings, *map(_judgment_row, judged)]


def _ruling_row(named: Named, ruling: Ruling) -> Row:
    key, kind = named
    into_key, into_type = ruling.into or (None, None)
    return {
        "id": ruling_id(named),
        "key": key,
        "type": kind,
        "apart": ruling.apart,
        "into_key": into_key,
        "into_type": into_type,
    }


def _judgment_row(judgment: Judgment) -> Row:
    (key, kind), (other, _) = judgment.pair
    id_ = f"{ruling_id(judgment.one)}:{digest(other)}"
    return {"id": id_, "key": key, "type": kind, "other_key": other, "same": judgment.same}
