"""What people ruled on names: which belong with another, and which stand apart.

A name that was merged into another keeps what was ruled on it before. So a split takes back one
merge, and leaves exactly what was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pgs_neo4j.documents.fold.contribution import Named


@dataclass(frozen=True, slots=True)
class Ruling:
    """What people ruled on one name. ``into``: it belongs with that name.

    ``apart``: without ``into``, it stands by itself.
    """

    into: Named | None = None
    apart: bool = False


Ruled = Mapping[Named, Ruling]
"""Rulings by name, as people made them."""


def rulings_in_force(ruled: Ruled) -> dict[Named, Named]:
    """Return for each name with a ruling the name that it belongs with in the end."""
    return {named: root_of(ruled, named) for named in ruled}


def root_of(ruled: Ruled, named: Named) -> Named:
    """Return the name that a name belongs with in the end; itself without a merge."""
    return [*merges_of(ruled, named)][-1]


def merges_of(ruled: Ruled, named: Named) -> Iterator[Named]:
    """Yield a name, the one that it was merged into, the one that this was merged into, and so on.

    It ends where a name would come again.
    """
    passed = {named}
    yield named
    while named in ruled and (into := ruled[named].into) is not None and into not in passed:
        passed.add(into)
        yield into
        named = into


def merge_names(ruled: Ruled, named: Named, into: Named) -> dict[Named, Ruling]:
    """Return rulings by which a name, and those that belong with it, belong with another."""
    own, other = root_of(ruled, named), root_of(ruled, into)
    if own == other:
        return {**ruled}
    return {**ruled, own: replace(ruled.get(own, Ruling()), into=other)}


def part_name(ruled: Ruled, named: Named) -> dict[Named, Ruling]:
    """Return rulings by which a name stands apart, unless it was merged."""
    return {**ruled, named: replace(ruled.get(named, Ruling()), apart=True)}


def take_back_merge(ruled: Ruled, named: Named) -> dict[Named, Ruling]:
    """Return rulings without the latest merge that put a name where it is."""
    *passed, _ = merges_of(ruled, named)
    if not passed:
        return {**ruled}
    former = replace(ruled[passed[-1]], into=None)
    rest = {other: ruling for other, ruling in ruled.items() if other != passed[-1]}
    return {**rest, passed[-1]: former} if former.apart else rest


def merged_into(ruled: Ruled, named: Named) -> list[Named]:
    """Return the names that were merged into a name, but not those merged into these."""
    return sorted(other for other, ruling in ruled.items() if ruling.into == named)


def names_concerned(former: Ruled, ruled: Ruled) -> set[Named]:
    """Return the names that rulings were made, changed, or taken back on, and about."""
    before, after = rulings_in_force(former), rulings_in_force(ruled)
    return {named for pair in {*before.items()} ^ {*after.items()} for named in pair}


def changed_rulings(former: Ruled, ruled: Ruled) -> tuple[dict[Named, Ruling], list[Named]]:
    """Return the rulings to store, and the names whose rulings are deleted."""
    stored = {named: one for named, one in ruled.items() if former.get(named) != one}
    return stored, sorted(former.keys() - ruled.keys())
