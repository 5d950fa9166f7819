"""A graph of documents in memory. It answers the reads of an ingestion, and applies its changes.

After each change, the graph must equal the graph that all chunks make at once, or the test fails.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pgs_neo4j.documents.fold.contribution import (
    Contribution,
    EntityMention,
    Named,
    contribution_of,
)
from pgs_neo4j.documents.fold.folding import MentionRow, fold
from pgs_neo4j.documents.fold.resolution import Resolution, VariantResolver
from pgs_neo4j.documents.fold.rulings import (
    Judgment,
    Ruled,
    affected_names,
    group_judged_names,
    rulings_in_force,
)
from pgs_neo4j.documents.fold.tallies import EntityRow, RelationPlace, RelationRow, entity_id
from pgs_neo4j.documents.names.index import IndexedName, placed_blocks
from pgs_neo4j.documents.publish.change import Change, MovedMentions, compute_change
from pgs_neo4j.documents.stored import EXTRACTION
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model.documents import GroundedExtraction
from tests.documents import names_of
from tests.fakes.database import FakeDatabase, Row

RESOLVER = VariantResolver()
Said = tuple[GroundedExtraction, bool]
"""The extraction of a chunk, and whether it is sure."""


class DocumentGraph:
    """The content of the database: rows as they were written, never computed from all chunks."""

    def __init__(self) -> None:
        self.chunks: dict[str, Said] = {}
        self.entities: dict[str, EntityRow] = {}
        self.relations: dict[RelationPlace, RelationRow] = {}
        self.mentions: list[MentionRow] = []
        self.resolution = Resolution(RESOLVER)
        self.ruled: Ruled = {}
        self.names: dict[Named, IndexedName] = {}
        self.database: Any = FakeDatabase(
            read_present=self.read_present,
            read_candidates=self.read_candidates,
            read_called=self.read_called,
            read_names=self.read_names,
            read_mentioning_chunks=self.read_mentioning,
            read_relations=self.read_relations,
            read_shared_chunks=self.read_shared,
        )

    async def write(self, gone: Sequence[str] = (), **coming: Said) -> Change:
        """Remove some chunks, and add or change others, as a publication would."""
        leaving = [self._contribution(id_) for id_ in {*gone, *(coming.keys() & self.chunks)}]
        added = [contribution_of(id_, said, sure=sure) for id_, (said, sure) in coming.items()]
        change = await compute_change(self.database, "docs", leaving, added, self.resolution)
        for id_ in gone:
            del self.chunks[id_]
        self.chunks |= coming
        self._apply(change, {*gone})
        return change

    async def rule(self, ruled: Ruled) -> Change:
        """Replace the rulings on names."""
        suspects = affected_names(self.ruled, ruled)
        self.ruled = ruled
        return await self._resolve(suspects, rulings=rulings_in_force(ruled))

    async def judge(self, *judged: Judgment) -> Change:
        """Replace the judgments of a model."""
        mates = group_judged_names(judged)
        return await self._resolve({*self.resolution.judged, *mates}, judged=mates)

    def read_present(self, params: Row) -> list[Row]:
        """Return the present names with some keys."""
        rows = [one.row for one in self.names.values() if one.name.key in params["keys"]]
        return [{"names": rows}]

    def read_candidates(self, params: Row) -> list[Row]:
        """Return the present names that share a block, in its place, with those asked for."""
        places = ("first", "second", "third", "fourth", "fifth")
        return [
            one.row
            for one in self.names.values()
            if any(block in params[places[at]] for at, block in placed_blocks(one.name, RESOLVER))
        ]

    def read_names(self, params: Row) -> list[Row]:
        """Return the names that chunks give to some entities, and their descriptions."""
        return [
            self._called(self.entities[id_], params)
            for id_ in params["entities"]
            if id_ in self.entities
        ]

    def read_called(self, params: Row) -> list[Row]:
        """Return what the nodes of some entities store of their names."""
        counts = Counter(row.entity for row in self.mentions)
        found = [self.entities[id_] for id_ in params["entities"] if id_ in self.entities]
        rows = [
            {"entity_key": row.key, "entity_type": row.type, "called": row.called or None}
            | {"mentions": counts[row.id]}
            for row in found
        ]
        return [{"entities": rows}]

    def read_mentioning(self, params: Row) -> list[Row]:
        """Return some chunks that mention some entities by a spelling and type."""
        rows = (
            mentioned.chunk
            for row in params["rows"]
            for mentioned in self.mentions
            if (mentioned.entity, mentioned.mention.type) == (row["entity"], row["type"])
            and mentioned.mention.name in row["names"]
        )
        return self._page(rows, params)

    def read_relations(self, params: Row) -> list[Row]:
        """Return the stored relations."""
        by_ends = {(row.source, row.rel_type, row.target): row for row in self.relations.values()}
        wanted = (
            (row["place"], by_ends.get((row["source"], row["rel_type"], row["target"])))
            for row in params["rows"]
        )
        return [
            {
                "place": place,
                "fact": row.fact,
                "fact_weight": row.fact_weight,
                "keywords": list(row.keywords),
                "weight": row.weight,
                "mentions": row.mentions,
                "chunks": list(row.chunks),
            }
            for place, row in wanted
            if row is not None
        ]

    def read_shared(self, params: Row) -> list[Row]:
        """Return the chunks that mention both ends of some relations."""
        named: dict[str, set[str]] = defaultdict(set)
        for row in self.mentions:
            named[row.entity].add(row.chunk)
        shared = {
            chunk for row in params["rows"] for chunk in named[row["source"]] & named[row["target"]]
        }
        return self._page(shared - {*params["gone"]}, params)

    async def _resolve(self, suspects: set[Named], **changed: Any) -> Change:
        self.resolution = replace(self.resolution, **changed)
        change = await compute_change(self.database, "docs", (), (), self.resolution, suspects)
        self._apply(change, set())
        return change

    def _contribution(self, id_: str) -> Contribution:
        extraction, sure = self.chunks[id_]
        return contribution_of(id_, extraction, sure=sure)

    def _page(self, ids: Iterable[str], params: Row) -> list[Row]:
        after = sorted(id_ for id_ in {*ids} if id_ > params["after"])
        return [
            {
                "id": id_,
                "extraction": EXTRACTION.dump_json(self.chunks[id_][0]).decode(),
                "sure": self.chunks[id_][1],
            }
            for id_ in after[: params["limit"]]
        ]

    def _called(self, entity: EntityRow, params: Row) -> Row:
        every = [row for row in self.mentions if row.entity == entity.id]
        names = {_called(row.mention): 0 for row in every}
        texts: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in every:
            one = row.mention
            if row.chunk not in params["gone"]:
                names[_called(one)] += 1
                if one.description:
                    texts[one.type, one.name].add(one.description)
        return {
            "entity_key": entity.key,
            "entity_type": entity.type,
            "names": [
                {"type": kind, "name": name, "sure": sure, "short": short, "count": count}
                for (kind, name, sure, short), count in names.items()
            ],
            "fragments": [
                {"type": kind, "name": name, "texts": sorted(own, key=text_hash)[: params["most"]]}
                for (kind, name), own in texts.items()
            ],
        }

    def _rename(self, renamed: Mapping[Named, Named]) -> None:
        ids = {entity_id(before): entity_id(after) for before, after in renamed.items()}

        def end(entity: Named) -> Named:
            return renamed.get(entity, entity)

        self.entities = {ids.get(id_, id_): row for id_, row in self.entities.items()}
        self.mentions = [
            replace(row, entity=ids.get(row.entity, row.entity)) for row in self.mentions
        ]
        self.relations = {
            (end(source), kind, end(target)): replace(
                row, source=ids.get(row.source, row.source), target=ids.get(row.target, row.target)
            )
            for (source, kind, target), row in self.relations.items()
        }

    def _apply(self, change: Change, gone: set[str]) -> None:
        """Write a change in the order of the publishing statement."""
        self._rename(change.renamed)
        without = {*change.unbound, *gone}
        self.mentions = [row for row in self.mentions if row.chunk not in without]
        self.mentions = [_move(row, change.moved) for row in self.mentions]
        for place in change.dropped:
            self.relations.pop(place, None)
        for id_ in change.vanished:
            del self.entities[id_]
        self.relations = {
            place: row
            for place, row in self.relations.items()
            if {entity_id(place[0]), entity_id(place[2])} <= self.entities.keys()
        }
        self.entities |= change.entities
        self.mentions += change.mentions
        self.relations |= change.relations
        for named in change.unnamed:
            del self.names[named]
        self.names |= {one.name.named: one for one in change.named}
        self.assert_whole()

    def assert_whole(self) -> None:
        """Fail unless the stored rows equal those that all chunks make at once."""
        wanted = fold(map(self._contribution, self.chunks), self.resolution)
        assert self.entities == wanted.entities
        assert self.relations == wanted.relations
        assert sorted(self.mentions, key=repr) == sorted(wanted.mentions, key=repr)
        assert self.names == names_of(map(self._contribution, self.chunks), self.resolution)


def _move(row: MentionRow, moved: Iterable[MovedMentions]) -> MentionRow:
    """Return the mention with the entity to which it belongs now."""
    for one in moved:
        same = (row.entity, row.mention.type) == (one.source, one.type)
        if same and row.mention.name in one.names:
            return replace(row, entity=one.target)
    return row


def _called(mention: EntityMention) -> tuple[str, str, bool, str]:
    """Return what identifies the name that a mention gives to an entity."""
    return mention.type, mention.name, mention.sure, mention.short


async def graph_of(**chunks: Said) -> DocumentGraph:
    """Return a graph with some chunks, written at once."""
    graph = DocumentGraph()
    await graph.write(**chunks)
    return graph
