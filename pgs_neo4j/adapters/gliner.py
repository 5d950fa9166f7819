"""Extracts entities with a local GLiNER model, without calling a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from pgs_neo4j.adapters.places import TaggedPlace, build_extraction
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.text.extraction.schema import DEFAULT_TYPES

FORM = "1"
"""Version of the extraction rules. A new version makes extracted documents stale."""
WINDOW = 1200
"""Maximum characters per model call. A model cuts off text after a few hundred words."""


@dataclass(frozen=True, eq=False)
class GlinerExtractor:
    """Finds entities of given types with a GLiNER model, and relates entities of one sentence.

    ``model`` is the folder of a model on this machine, or a loaded model. ``name`` distinguishes it
    from other models. Raises ConfigError if GLiNER or the folder is missing; nothing is downloaded.
    """

    model: Any
    types: Sequence[str] = tuple(DEFAULT_TYPES)
    threshold: float = 0.5
    name: str = ""
    _lock: Lock = field(default_factory=Lock, repr=False)

    schema = None
    free = True
    shares = True
    sure = True

    def __post_init__(self) -> None:
        """Load the model."""
        if isinstance(self.model, str | Path):
            object.__setattr__(self, "name", self.name or Path(self.model).name)
            object.__setattr__(self, "model", _load(Path(self.model)))

    @property
    def signature(self) -> str:
        """A hash of the model's name, the types, and the threshold."""
        return digest(["gliner", FORM, self.name, list(self.types), self.threshold])

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:  # noqa: ARG002
        """Forecast no model calls."""
        return ExtractionForecast()

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the entities of some chunks, in a thread."""
        return await asyncio.to_thread(self._extract, chunks)

    def _extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        with self._lock:  # a model serves one thread at a time
            return [build_extraction(chunk, self._find_places(chunk)) for chunk in chunks]

    def _find_places(self, chunk: Chunk) -> Iterator[TaggedPlace]:
        labels = {kind.lower(): kind for kind in self.types}
        for start, end in windows(chunk):
            found: list[Mapping[str, Any]] = self.model.predict_entities(
                chunk.text[start:end], [*labels], threshold=self.threshold
            )
            for one in found:
                kind = labels.get(one["label"], one["label"])
                yield TaggedPlace(start + one["start"], start + one["end"], kind)


def windows(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole sentences that together cover a chunk's text."""
    start = end = 0
    for one in chunk.sentences:
        if one.end - start > WINDOW and end > start:
            yield start, end
            start = end
        end = one.end
    if end > start:
        yield start, end


def _load(folder: Path) -> Any:
    if not folder.is_dir():
        raise ConfigError(
            f"GlinerExtractor needs the folder of a model, and {folder} does not exist; download "
            "one yourself, and name its folder"
        )
    try:
        from gliner import GLiNER
    except ModuleNotFoundError as error:
        if error.name != "gliner":
            raise
        raise ConfigError(
            "GlinerExtractor needs the package gliner; install it: pip install gliner"
        ) from error
    return GLiNER.from_pretrained(str(folder), local_files_only=True)
