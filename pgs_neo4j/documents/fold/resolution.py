"""Decides which names are one entity, as a function of the present names and the rulings.

A resolver decides which two names may be variants. Users may write a resolver. It is wrapped, so
that an error in it becomes an error that names the resolver.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Protocol

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.errors import ModelError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.llm.own_models import PAGE, said_by
from pgs_neo4j.text.name_variants import PresentName, blocks_of, variant_kind

FORM = "2"
"""Version of the rules. When it changes, names are resolved again."""
REACH = 3
"""Number of steps from variant to variant within which a name can affect another name's entity."""
MOST_BLOCKS = 5
JUDGED = "judgment"
PREFERRED = ("spelling", "definition", JUDGED)
"""Kinds of variants that are preferred to all other kinds, in order of preference."""
Rulings = Mapping[Named, Named]
"""For each name with a user's ruling, the name that it belongs with; itself if it is separate."""
Judged = Mapping[Named, frozenset[Named]]
"""For each name, the names of the same type that a model judged to mean the same thing."""


class Resolver(Protocol):
    """Decides which two names may be variants of one name.

    Both methods must be pure. Their results may depend only on the names, and ``variant_kind`` must
    be symmetric. Two variants must have an equal block at the same position of their tuples.
    """

    @property
    def signature(self) -> str:
        """A hash of all rules. When it changes, all names are resolved again."""
        ...

    def blocks(self, name: PresentName) -> tuple[str | None, ...]:
        """Return at most ``MOST_BLOCKS`` blocks. Only names with an equal block are compared."""
        ...

    def variant_kind(self, one: PresentName, other: PresentName) -> str | None:
        """Return how two names vary, None if they are different names."""
        ...


@dataclass(frozen=True, slots=True)
class VariantResolver:
    """Joins spellings, abbreviations, initials, company forms, and typing errors."""

    @property
    def signature(self) -> str:
        """A hash of the rules."""
        return digest(["variants", FORM])

    def blocks(self, name: PresentName) -> tuple[str | None, ...]:
        """Return the blocks of a name, one for each kind of variants."""
        return _blocks(name)

    def variant_kind(self, one: PresentName, other: PresentName) -> str | None:
        """Return how two names vary, None if they are different names."""
        return variant_kind(one, other)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The basis on which names are resolved. Rulings override the resolver and the judgments."""

    resolver: Resolver = field(default_factory=VariantResolver)
    rulings: Rulings = field(default_factory=dict)
    judged: Judged = field(default_factory=dict)

    @property
    def pinned(self) -> frozenset[Named]:
        """The names in rulings. Such a name follows another name only by a ruling."""
        return frozenset((*self.rulings, *self.rulings.values()))


def resolve(names: Iterable[PresentName], resolution: Resolution) -> dict[Named, Named]:
    """Return the entity of each name; the entity is identified by its leading name.

    A name without a fuller variant is a leader. Any other name joins a leader among its variants.
    It prefers a leader with the same letters, then a leader that it abbreviates by a definition in
    a text, and then a leader by a judgment. A name without a single best leader is an entity by
    itself. Variants of variants are not joined, so every name is one step away from its leader.
    """
    present = {name.named: name for name in names}
    variants = find_variants(present.values(), resolution.resolver)
    for named in resolution.judged.keys() & present.keys():
        for other in resolution.judged[named] & present.keys():
            variants[named].setdefault(other, JUDGED)
    pinned = resolution.pinned
    ranks = {named: _rank(name, variants[named]) for named, name in present.items()}
    leaders = {
        named
        for named in present
        if named in pinned or all(ranks[named] < ranks[other] for other in variants[named])
    }
    joined = {
        named: named if named in leaders else _find_leader(named, variants[named], leaders)
        for named in present
    }
    heads = _find_heads(ranks, resolution.rulings)
    return {named: heads.get(leader, leader) for named, leader in joined.items()}


def preference(kind: str) -> int:
    """Return the sort key of a kind of variants; kinds without a preference are last."""
    return PREFERRED.index(kind) if kind in PREFERRED else len(PREFERRED)


def find_variants(
    names: Iterable[PresentName], resolver: Resolver
) -> dict[Named, dict[Named, str]]:
    """Return the variants of each name, each with the kind of variation."""
    blocks: dict[tuple[int, str], list[PresentName]] = defaultdict(list)
    variants: dict[Named, dict[Named, str]] = {}
    for name in names:
        variants[name.named] = {}
        for place, block in enumerate(resolver.blocks(name)):
            if block is not None:
                blocks[place, block].append(name)
    for one, other in _pair_within_blocks(blocks.values()):
        if other.named not in variants[one.named] and (kind := resolver.variant_kind(one, other)):
            variants[one.named][other.named] = kind
            variants[other.named][one.named] = kind
    return variants


def _pair_within_blocks(
    blocks: Iterable[list[PresentName]],
) -> Iterator[tuple[PresentName, PresentName]]:
    for block in blocks:
        yield from combinations(block, 2)


def _rank(name: PresentName, variants: Mapping[Named, str]) -> tuple[object, ...]:
    """Return the sort key of a name.

    Fuller names are first, then names with more typing errors as variants, then longer names.
    """
    errors = sum(kind == "typing error" for kind in variants.values())
    return (*name.fullness, -errors, -len(name.form.letters), len(name.key), name.named)


def _find_leader(named: Named, variants: Mapping[Named, str], leaders: set[Named]) -> Named:
    """Return the leader that a name follows, or the name itself without a single best leader."""
    fitting = {other: preference(kind) for other, kind in variants.items() if other in leaders}
    best = min(fitting.values(), default=0)
    choice = [other for other, order in fitting.items() if order == best]
    return choice[0] if len(choice) == 1 else named


def _find_heads(ranks: Mapping[Named, tuple[object, ...]], rulings: Rulings) -> dict[Named, Named]:
    """Return the leader of each name with a ruling.

    The leader is the name in the ruling. If that name is not present, the leader is the fullest
    name with the same ruling.
    """
    groups: dict[Named, list[Named]] = defaultdict(list)
    for named, into in rulings.items():
        if named in ranks:
            groups[into].append(named)
    heads: dict[Named, Named] = {}
    for into, members in groups.items():
        head = into if into in ranks else min(members, key=lambda named: ranks[named])
        heads.update(dict.fromkeys(members, head))
    return heads


@lru_cache(maxsize=8192)  # This is more than the names in one publication.
def _blocks(name: PresentName) -> tuple[str | None, ...]:
    return blocks_of(name)


@dataclass(frozen=True, slots=True)
class OwnResolver:
    """Wraps a user's resolver. Raises ModelError if it fails or returns an invalid result."""

    own: Resolver

    @property
    def signature(self) -> str:
        """The signature of the wrapped resolver."""
        return self.own.signature

    def blocks(self, name: PresentName) -> tuple[str | None, ...]:
        """Return the blocks of a name."""
        with said_by(self._name, "resolver"):
            found: object = self.own.blocks(name)
        blocks = found if isinstance(found, tuple) and len(found) <= MOST_BLOCKS else (found,)
        if blocks is found and all(one is None or isinstance(one, str) for one in blocks):
            return blocks
        raise self._make_error("blocks", f"a tuple of at most {MOST_BLOCKS} texts or None")

    def variant_kind(self, one: PresentName, other: PresentName) -> str | None:
        """Return how two names vary, None if they are different names."""
        with said_by(self._name, "resolver"):
            kind: object = self.own.variant_kind(one, other)
        if kind is None or isinstance(kind, str):
            return kind
        raise self._make_error("variant_kind", "a text or None")

    @property
    def _name(self) -> str:
        return type(self.own).__name__

    def _make_error(self, method: str, wanted: str) -> ModelError:
        return ModelError(f"{method} of the resolver {self._name} did not return {wanted}; {PAGE}")
