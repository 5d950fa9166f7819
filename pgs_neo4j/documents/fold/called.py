"""What an entity is called, as text that its node keeps.

With it, a new mention is added to the sums that stand, and the others need not be read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.tallies import EntityTally


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledAs:
    """The tally of one name and type: spellings and abbreviations with counts."""

    key: str
    type: str
    sure: int
    names: dict[str, int]
    shorts: dict[str, int]
    fragments: list[str]


_CALLED = TypeAdapter(tuple[CalledAs, ...])


def dump_called(tallies: Mapping[Named, EntityTally]) -> str:
    """Return the tallies of the names of an entity as JSON that depends on nothing else."""
    called = tuple(
        CalledAs(
            key=key,
            type=kind,
            sure=tally.sure,
            names=dict(sorted(tally.names.items())),
            shorts=dict(sorted(tally.shorts.items())),
            fragments=tally.described,
        )
        for (key, kind), tally in sorted(tallies.items())
    )
    return _CALLED.dump_json(called).decode()


def load_called(text: str, mentions: int) -> dict[Named, EntityTally] | None:
    """Return the tallies by name; None unless they are those of that many mentions."""
    try:
        called = _CALLED.validate_json(text)
    except ValidationError:
        return None
    tallies = {(one.key, one.type): _tally(one) for one in called}
    return tallies if sum(tally.count for tally in tallies.values()) == mentions else None


def _tally(called: CalledAs) -> EntityTally:
    tally = EntityTally(
        count=sum(called.names.values()),
        sure=called.sure,
        names=Counter(called.names),
        shorts=Counter(called.shorts),
    )
    tally.add_fragments(called.fragments)
    return tally
