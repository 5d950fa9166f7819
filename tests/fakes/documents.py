"""A graph of documents in memory: it answers what ingestion reads, and takes its changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.ingest.change import Change, work_out
from pgs_neo4j.ingest.fold.contribution import Contribution, contribution_of
from pgs_neo4j.ingest.fold.folding import FoldedGraph, MentionRow, fold
from pgs_neo4j.ingest.fold.rows import EntityRow, RelationPlace, RelationRow, entity_id
from pgs_neo4j.ingest.stored import EXTRACTION
from pgs_neo4j.model.documents import GroundedExtraction
from tests.fakes.database import FakeDatabase, Row

Said = tuple[GroundedExtraction, bool]
"""What a chunk says, and whether that is sure."""


class DocumentGraph:
    """What stands in the database: rows as they were written, never folded from all chunks."""

    def __init__(self) -> None:
        self.chunks: dict[str, Said] = {}
        self.entities: dict[str, EntityRow] = {}
        self.relations: dict[RelationPlace, RelationRow] = {}
        self.mentions: list[MentionRow] = []
        self.database: Any = FakeDatabase(
            read_names=self.read_names,
            read_mentioning_chunks=self.read_mentioning,
            read_relations=self.read_relations,
            read_shared_chunks=self.read_shared,
        )

    async def write(self, gone: Sequence[str] = (), **coming: Said) -> Change:
        """Make some chunks go and others come or change, as a publication would."""
        leaving = [self._contribution(id_) for id_ in {*gone, *(coming.keys() & self.chunks)}]
        added = [contribution_of(id_, said, sure=sure) for id_, (said, sure) in coming.items()]
        change = await work_out(self.database, "docs", leaving, added)
        for id_ in gone:
            del self.chunks[id_]
        self.chunks |= coming
        self._apply(change, {*gone})
        return change

    def at_once(self) -> FoldedGraph:
        """Return the graph that its chunks make at once."""
        return fold(self._contribution(id_) for id_ in self.chunks)

    def read_names(self, params: Row) -> list[Row]:
        """Answer how often names are mentioned, by spelling, and how they are described."""
        return [self._names(row, params["most"]) for row in params["rows"]]

    def read_mentioning(self, params: Row) -> list[Row]:
        """Answer the chunks that mention some names with one type."""
        names = {(row["key"], row["type"]) for row in params["rows"]}
        return self._rows(row.chunk for row in self.mentions if row.mention.named in names)

    def read_relations(self, params: Row) -> list[Row]:
        """Answer relations as they stand."""
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
        """Answer the chunks that mention both ends of some relations."""
        named: dict[str, set[str]] = defaultdict(set)
        for row in self.mentions:
            named[row.entity].add(row.chunk)
        shared = {
            chunk for row in params["rows"] for chunk in named[row["source"]] & named[row["target"]]
        }
        return self._rows(shared - {*params["gone"]})

    def _contribution(self, id_: str) -> Contribution:
        extraction, sure = self.chunks[id_]
        return contribution_of(id_, extraction, sure=sure)

    def _rows(self, ids: Iterable[str]) -> list[Row]:
        return [
            {
                "id": id_,
                "extraction": EXTRACTION.dump_json(self.chunks[id_][0]).decode(),
                "sure": self.chunks[id_][1],
            }
            for id_ in sorted({*ids})
        ]

    def _names(self, wanted: Row, most: int) -> Row:
        own = [
            row.mention
            for row in self.mentions
            if row.mention.key == wanted["key"] and row.chunk not in wanted["gone"]
        ]
        counts = Counter((one.type, one.name, one.sure) for one in own)
        texts: dict[str, set[str]] = defaultdict(set)
        for one in own:
            if one.description:
                texts[one.type].add(one.description)
        return {
            "key": wanted["key"],
            "names": [
                {"type": kind, "name": name, "sure": sure, "count": count}
                for (kind, name, sure), count in counts.items()
            ],
            "fragments": [
                {"type": kind, "texts": sorted(found, key=text_hash)[:most]}
                for kind, found in texts.items()
            ],
        }

    def _apply(self, change: Change, gone: set[str]) -> None:
        """Write a change in the order of the statement that publishes."""
        without = {*change.unbound, *gone}
        self.mentions = [row for row in self.mentions if row.chunk not in without]
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
