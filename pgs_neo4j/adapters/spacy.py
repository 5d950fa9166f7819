"""Extracts entities with a spaCy pipeline, without calling a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import Any

from pgs_neo4j.adapters.places import TaggedPlace, build_extraction
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast

FORM = "1"
"""Version of the extraction rules. A new version makes extracted documents stale."""
TYPES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("PERSON", "PER"), "Person"),
        "ORG": "Organization",
        **dict.fromkeys(("GPE", "LOC", "FAC"), "Location"),
        "DATE": "Date",
        "EVENT": "Event",
        "PRODUCT": "Product",
        "LAW": "Law",
        **dict.fromkeys(("NORP", "WORK_OF_ART", "LANGUAGE", "MISC"), "Concept"),
        **dict.fromkeys(("TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"), ""),
    }
)
"""Maps labels of common pipelines to entity types. Labels with an empty type are left out."""


@dataclass(frozen=True, eq=False)
class SpacyExtractor:
    """Finds entities with a spaCy pipeline, and relates entities of one sentence.

    ``pipeline`` is the name or folder of an installed pipeline, or a loaded pipeline. ``types``
    maps additional labels to types, and overrides ``TYPES``; a label that neither maps is used as
    the type itself. The signature covers the name and version of the pipeline and the patterns of
    its rulers; if anything else changes, change ``version``. Raises ConfigError if spaCy or the
    pipeline is missing; nothing is downloaded.
    """

    pipeline: Any
    types: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    _lock: Lock = field(default_factory=Lock, repr=False)

    schema = None
    free = True
    shares = True  # A pipeline processes texts in batches.
    sure = True

    def __post_init__(self) -> None:
        """Load the pipeline."""
        if isinstance(self.pipeline, str):
            object.__setattr__(self, "pipeline", _load(self.pipeline))

    @property
    def signature(self) -> str:
        """A hash of the pipeline, the patterns of its rulers, and the types."""
        pipeline = self.pipeline
        meta = [pipeline.meta.get(key, "") for key in ("lang", "name", "version", "spacy_version")]
        parts = [(name, _read_patterns(pipe)) for name, pipe in pipeline.pipeline]
        return digest(["spacy", FORM, self.version, meta, parts, sorted(self.types.items())])

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:  # noqa: ARG002
        """Forecast no model calls."""
        return ExtractionForecast()

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the entities of some chunks, in a thread."""
        return await asyncio.to_thread(self._extract, chunks)

    def _extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        with self._lock:  # a pipeline serves one thread at a time
            texts = [*self.pipeline.pipe(chunk.text for chunk in chunks)]
        return [
            build_extraction(
                chunk,
                (
                    TaggedPlace(one.start_char, one.end_char, kind)
                    for one in text.ents
                    if (kind := self._find_type(one.label_))
                ),
            )
            for chunk, text in zip(chunks, texts, strict=True)
        ]

    def _find_type(self, label: str) -> str:
        return self.types.get(label, TYPES.get(label, label))


def _read_patterns(pipe: object) -> str:
    """Return the patterns of a ruler; empty for any other component of a pipeline."""
    return str(getattr(pipe, "patterns", ""))


def _load(name: str) -> Any:
    try:
        import spacy
    except ModuleNotFoundError as error:
        if error.name != "spacy":
            raise
        raise ConfigError(
            "SpacyExtractor needs the package spacy; install pgs-neo4j with its extra: "
            "pip install 'pgs-neo4j[spacy]'"
        ) from error
    try:
        return spacy.load(name)
    except OSError as error:
        raise ConfigError(
            f"spaCy has no pipeline {name}; install it, as in 'python -m spacy download {name}', "
            "or name the folder of one"
        ) from error
