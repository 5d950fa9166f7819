"""What people ruled on names: which belong together, and which stand apart.

No name belongs with one that belongs with a third: whatever joins such a name, joins the third.
"""

from __future__ import annotations

from pgs_neo4j.ingest.fold.contribution import Named
from pgs_neo4j.ingest.fold.resolution import Rulings


def merge_names(rulings: Rulings, named: Named, into: Named) -> dict[Named, Named]:
    """Return rulings by which a name, and those that belong with it, belong with another."""
    head = rulings.get(into, into)
    if named == head:
        return {**rulings}
    followers = [other for other, to in rulings.items() if to == named]
    return {**rulings, **dict.fromkeys((named, *followers), head)}


def part_name(rulings: Rulings, named: Named) -> dict[Named, Named]:
    """Return rulings by which a name stands apart."""
    return {**rulings, named: named}


def forget_ruling(rulings: Rulings, named: Named) -> dict[Named, Named]:
    """Return rulings without that on a name."""
    return {other: into for other, into in rulings.items() if other != named}


def rulings_changed(former: Rulings, rulings: Rulings) -> set[Named]:
    """Return the names that rulings were made, changed, or taken back on, and about."""
    return {named for pair in {*former.items()} ^ {*rulings.items()} for named in pair}
