"""Totals mentions and statements of chunks, and makes the rows of entities and relations.

The order of the chunks does not matter. The node of an entity stores the tallies of its names. New
mentions are added to these tallies, so earlier mentions need not be read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from pgs_neo4j.documents.fold.contribution import WEIGHT_UNIT, EntityMention, Named, Statement
from pgs_neo4j.graph.hashes import digest, text_hash
from pgs_neo4j.text.tokens import estimate

MOST_FRAGMENTS = 64
"""Maximum number of descriptions that an entity stores. They are the descriptions with the lowest
hashes, as an even sample."""
MOST_CHUNKS = 5
"""Maximum number of chunks that a relation names. They are the chunks with the lowest hashes."""
JOINED_FRAGMENTS, JOINED_TOKENS = 8, 1200
"""From this number of descriptions or of tokens on, descriptions are summarized (published
thresholds of dual-level retrieval)."""
LEAST_MENTIONS = 2
"""Minimum number of mentions with which an entity that only statistics found belongs to the
view."""
Belonging = Mapping[str, Mapping[str, Named]]
"""For each key, a map from the type of a mention to the entity that the mention belongs to."""
RelationPlace = tuple[Named, str, Named]
"""The source, type, and target of a relation. Source and target are entities."""


@dataclass(slots=True)
class EntityTally:
    """The mentions of one name and type, with their spellings and descriptions.

    ``sure`` counts mentions that suffice alone for the entity to belong to the view. ``shorts``
    counts the mentions that define an abbreviation, by abbreviation.
    """

    count: int = 0
    sure: int = 0
    names: Counter[str] = field(default_factory=Counter)
    shorts: Counter[str] = field(default_factory=Counter)
    fragments: dict[int, str] = field(default_factory=dict)

    def add(self, mention: EntityMention) -> None:
        """Count a mention."""
        self.count += 1
        self.sure += mention.sure
        self.names[mention.name] += 1
        if mention.short:
            self.shorts[mention.short] += 1
        self.add_fragments([mention.description])

    def add_fragments(self, texts: Iterable[str]) -> None:
        """Add descriptions, and keep the descriptions with the lowest hashes."""
        self._keep({text_hash(text): text for text in texts if text})

    def _keep(self, fragments: Mapping[int, str]) -> None:
        self.fragments.update(fragments)
        if len(self.fragments) > MOST_FRAGMENTS:
            lowest = sorted(self.fragments)[:MOST_FRAGMENTS]
            self.fragments = {place: self.fragments[place] for place in lowest}

    def merge(self, other: EntityTally) -> None:
        """Add the mentions of another tally."""
        self.count += other.count
        self.sure += other.sure
        self.names += other.names
        self.shorts += other.shorts
        self._keep(other.fragments)

    @property
    def name(self) -> str:
        """The commonest spelling."""
        return commonest(self.names)

    @property
    def described(self) -> list[str]:
        """The descriptions, in an order that depends only on the descriptions."""
        return [self.fragments[place] for place in sorted(self.fragments)]


@dataclass(slots=True)
class RelationTally:
    """The statements of one relation: their number, their weight, and the best statement."""

    count: int = 0
    weight: int = 0
    best: Statement | None = None
    chunks: dict[int, str] = field(default_factory=dict)

    def add(self, chunk: str, statement: Statement) -> None:
        """Count a statement of a chunk."""
        self.merge(RelationTally(1, statement.weight, statement, keep_lowest([chunk])))

    def merge(self, other: RelationTally) -> None:
        """Add the statements of another tally."""
        self.count += other.count
        self.weight += other.weight
        both = [one for one in (self.best, other.best) if one is not None]
        self.best = min(both, key=lambda one: (one.rank, one.keywords), default=None)
        self.chunks = _take_lowest({**self.chunks, **other.chunks})


def commonest(counts: Mapping[str, int]) -> str:
    """Return the text with the highest count, empty if there is no text.

    If several texts have this count, the first in the alphabet is returned.
    """
    return min(counts, key=lambda one: (-counts[one], one), default="")


def keep_lowest(chunks: Iterable[str]) -> dict[int, str]:
    """Return the chunks with the lowest hashes, by hash in ascending order."""
    return _take_lowest({text_hash(chunk): chunk for chunk in chunks})


def _take_lowest(by_hash: Mapping[int, str]) -> dict[int, str]:
    return {place: by_hash[place] for place in sorted(by_hash)[:MOST_CHUNKS]}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRow:
    """An entity node with its number of ``mentions``.

    ``viewed`` means that the entity belongs to the view. A term in only one chunk is not part of
    the view, because it connects nothing. ``fragments_hash`` is the hash of the descriptions if
    they are too long to be joined, otherwise empty. ``called`` stores the tallies of the entity's
    names as JSON.
    """

    id: str
    key: str
    type: str
    name: str
    description: str
    mentions: int
    viewed: bool
    fragments_hash: str = ""
    called: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRow:
    """A RELATES relationship. ``fact`` is the fact of the best statement, which has its own weight.

    ``steps`` and ``fact_steps`` are weights in steps; ``WEIGHT_UNIT`` steps are a weight of 1.
    """

    source: str
    target: str
    rel_type: str
    fact: str
    fact_steps: int
    keywords: tuple[str, ...]
    steps: int
    mentions: int
    chunks: tuple[str, ...]

    @property
    def weight(self) -> float:
        """The sum of the weights of its statements."""
        return self.steps / WEIGHT_UNIT

    @property
    def fact_weight(self) -> float:
        """The weight of the best statement."""
        return self.fact_steps / WEIGHT_UNIT


def entity_id(entity: Named) -> str:
    """Return the id of an entity's node; it is unique within a graph."""
    return f"entity:{entity[1]}:{entity[0]}"


def relation_ends(place: RelationPlace) -> dict[str, str]:
    """Return a relation's type and the ids of its ends, by which statements find it."""
    source, kind, target = place
    return {"source": entity_id(source), "target": entity_id(target), "rel_type": kind}


def place_of(source: Named, kind: str, target: Named, belonging: Belonging) -> RelationPlace | None:
    """Return the relation to which a statement belongs, None if both ends are the same entity."""
    ends = tuple(belonging[key][own] for key, own in (source, target))
    return None if ends[0] == ends[1] else (ends[0], kind, ends[1])


def entity_row(entity: Named, tallies: Mapping[Named, EntityTally]) -> EntityRow | None:
    """Return the node of an entity from the tallies of all its names, None without a mention."""
    total = EntityTally()
    for tally in tallies.values():
        total.merge(tally)
    if not total.count:
        return None
    key, kind = entity
    fragments = total.described
    return EntityRow(
        id=entity_id(entity),
        key=key,
        type=kind,
        name=total.name,
        description=join_fragments(fragments),
        mentions=total.count,
        viewed=total.sure > 0 or total.count >= LEAST_MENTIONS,
        fragments_hash=digest(fragments) if need_summary(fragments) else "",
        called=dump_called(tallies),
    )


def relation_row(place: RelationPlace, tally: RelationTally) -> RelationRow | None:
    """Return the relationship of a relation, None without a statement."""
    if tally.best is None:
        return None
    source, kind, target = place
    return RelationRow(
        source=entity_id(source),
        target=entity_id(target),
        rel_type=kind,
        fact=tally.best.fact,
        fact_steps=tally.best.weight,
        keywords=tally.best.keywords,
        steps=tally.weight,
        mentions=tally.count,
        chunks=tuple(tally.chunks[at] for at in sorted(tally.chunks)),
    )


def need_summary(fragments: Sequence[str]) -> bool:
    """Return whether descriptions are too many or too long to be joined unchanged."""
    many = len(fragments) >= JOINED_FRAGMENTS
    return many or (len(fragments) > 1 and sum(map(estimate, fragments)) >= JOINED_TOKENS)


def join_fragments(fragments: Iterable[str]) -> str:
    """Return descriptions as one text, cut off at the limits above which they are summarized."""
    joined: list[str] = []
    tokens = 0
    for fragment in fragments:
        tokens += estimate(fragment)
        if joined and (tokens > JOINED_TOKENS or len(joined) == JOINED_FRAGMENTS):
            break
        joined.append(fragment)
    return "\n".join(joined)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTallyRow:
    """The tally of one name and type: spellings and abbreviations with their counts."""

    key: str
    type: str
    sure: int
    names: dict[str, int]
    shorts: dict[str, int]
    fragments: list[str]


_CALLED = TypeAdapter(tuple[NameTallyRow, ...])


def dump_called(tallies: Mapping[Named, EntityTally]) -> str:
    """Return the tallies of an entity's names as JSON; equal tallies give the same text."""
    called = tuple(
        NameTallyRow(
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
    """Return the tallies in a JSON text, by name.

    Returns None if the text is invalid, or if the total count of its mentions is not ``mentions``.
    """
    try:
        called = _CALLED.validate_json(text)
    except ValidationError:
        return None
    tallies = {(one.key, one.type): _tally_of(one) for one in called}
    return tallies if sum(tally.count for tally in tallies.values()) == mentions else None


def _tally_of(called: NameTallyRow) -> EntityTally:
    tally = EntityTally(
        count=sum(called.names.values()),
        sure=called.sure,
        names=Counter(called.names),
        shorts=Counter(called.shorts),
    )
    tally.add_fragments(called.fragments)
    return tally
