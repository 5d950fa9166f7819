"""Extractors, and replies of models, that name words, for tests of ingestion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.documents import Chunk, ExtractedEntity, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.text.extraction.schema import EntitySchema


@dataclass
class WordExtractor:
    """Names the first word of a chunk. Some words raise an error, and some are unproven."""

    signature: str = "s1"
    schema: EntitySchema | None = None
    free: bool = False
    shares: bool = False
    sure: bool = True
    errors: dict[str, Exception] = field(default_factory=dict)
    unproven: set[str] = field(default_factory=set)
    prompts: int = 0
    asked: list[str] = field(default_factory=list)

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:
        del chunks
        return ExtractionForecast(calls=PlannedCalls(calls=1, input_tokens=100, output_most=50))

    async def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        self.prompts += 1
        return [self._said(chunk) for chunk in chunks]

    def _said(self, chunk: Chunk) -> Extraction:
        word = chunk.text.split()[0]
        self.asked.append(word)
        if word in self.errors:
            raise self.errors[word]
        told = (word, "Nowhere")
        return Extraction(
            tuple(ExtractedEntity(name=name, type="Concept", sentences=(1,)) for name in told),
            proven=word not in self.unproven,
        )


def named_records(prompt: str, names: Mapping[str, str]) -> str:
    """Return the reply of a model that knows some names by type.

    Each sentence describes the names in it.
    """
    lines = [
        f"entity<|#|>{name}<|#|>{kind}<|#|>{said}<|#|>{number[1:]}"
        for number, _, said in (line.partition("] ") for line in prompt.splitlines())
        for name, kind in names.items()
        if name in said
    ]
    return "\n".join([*lines, "<|COMPLETE|>", ""])
