"""Any history of files leaves the graph that the last ones make at once.

Unlike the histories of ``test_document_changes``, these go through files: what has moved is found
by its text, large documents are published in parts, and a model describes some entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold import tallies
from pgs_neo4j.documents.publish import large as parts
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, ExtractedEntity, ExtractedRelation, Extraction
from tests.bench.ingestion.corpus import facts_in, make_world, type_of, write_texts
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on
from tests.fakes.extractors import WordExtractor
from tests.killed_ingest import graph_without_name

pytestmark = pytest.mark.nightly
HISTORIES = 3
STEPS = 6
NAMES = ("a.txt", "b.txt", "c.txt")
SIZES = (900, 3_000, 9_000)
PART_BYTES = 5_000


class StatedExtractor(WordExtractor):
    """Names what planted sentences state, and describes both ends by the whole sentence."""

    def _said(self, chunk: Chunk) -> Extraction:
        entities: dict[str, ExtractedEntity] = {}
        relations: list[ExtractedRelation] = []
        for number, one in enumerate(chunk.sentences, 1):
            for fact in facts_in(chunk.text[one.start : one.end]):
                cited = {
                    "description": f"{fact.source} {fact.verb} {fact.target}.",
                    "sentences": (number,),
                }
                for name in (fact.source, fact.target):
                    named = ExtractedEntity(name=name, type=type_of(name), **cited)
                    entities.setdefault(name, named)
                relations.append(
                    ExtractedRelation(
                        source=fact.source, target=fact.target, keywords=(fact.verb,), **cited
                    )
                )
        return Extraction(tuple(entities.values()), tuple(relations))


@dataclass
class CountingDescriber:
    """Makes a description that any change of its sources changes."""

    signature: str = "counting"
    described: int = 0

    async def describe(self, name: str, kind: str, fragments: Sequence[str]) -> str:
        self.described += 1
        return f"{name} ({kind}) of {len(fragments)}: {digest(sorted(fragments))}"


@dataclass
class Files:
    """A folder, and how it has changed."""

    folder: Path
    random: Random
    texts: list[str]
    happened: Counter[str] = field(default_factory=Counter)

    def change(self) -> None:
        """Add, edit, rename, or delete a file."""
        random, file = self.random, self.folder / self.random.choice(NAMES)
        if not file.exists():
            file.write_text(random.choice(self.texts))
            kind = "add"
        elif random.random() < 0.3:
            file.unlink()
            kind = "delete"
        elif random.random() < 0.4:
            file.rename(self.folder / random.choice(NAMES))
            kind = "rename"
        else:
            paragraphs = file.read_text().split("\n\n")
            other = random.choice(self.texts).split("\n\n")
            at = random.randrange(len(paragraphs))
            paragraphs[at : at + random.randint(0, 2)] = other[: random.randint(0, 3)]
            file.write_text("\n\n".join(paragraphs) or "None.")
            kind = "edit"
        self.happened[kind] += 1


def files_of(folder: Path, seed: int) -> Files:
    """A folder with one file, and texts of few entities for others."""
    random, facts = Random(seed), make_world(12, 60, seed=seed).facts
    texts = [text for size in SIZES for text in write_texts(facts, 20, size, seed=seed)]
    folder.mkdir()
    (folder / "z.txt").write_text(random.choice(texts))
    return Files(folder, random, texts)


async def test_any_history_of_files_ends_at_what_the_last_ones_make_at_once(
    endpoint: Endpoint, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "JOINED_FRAGMENTS", 3)
    happened: Counter[str] = Counter()
    describer = CountingDescriber()
    custom = {"extractor": StatedExtractor(), "describer": describer, "sync": True}
    async with engine_on(endpoint, **KNOBS) as pgs:
        for seed in range(HISTORIES):
            graph, once = f"docs{seed}", f"once{seed}"
            files = files_of(tmp_path / graph, seed)
            with pytest.MonkeyPatch.context() as small:
                small.setattr(parts, "GROUP_BYTES", PART_BYTES)
                small.setattr(parts, "PART_BYTES", PART_BYTES - 1000)
                for _ in range(STEPS):
                    files.change()
                    assert (await pgs.ingest(files.folder, graph, **custom)).complete
            assert (await pgs.ingest(files.folder, once, **custom)).complete
            assert await graph_without_name(db, graph) == await graph_without_name(db, once), seed
            large = [one for one in files.folder.iterdir() if one.stat().st_size > PART_BYTES]
            happened += files.happened + Counter({"in parts": len(large)})
    assert {"add", "edit", "rename", "delete", "in parts"} <= happened.keys(), happened
    assert describer.described > HISTORIES
