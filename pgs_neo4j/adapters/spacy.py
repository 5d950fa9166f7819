"""Extracts entities by a pipeline of spaCy, without a call of a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import Any

from pgs_neo4j.adapters.places import TaggedPlace, extraction_of
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast

FORM = "1"
"""Version of the rules; a new one makes documents stale."""
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
"""Types by the labels of the usual pipelines; what has an empty one is left out."""


@dataclass(frozen=True, eq=False)
class SpacyExtractor:
    """Names the entities that a pipeline of spaCy finds, and relates those of one sentence.

    ``pipeline`` is the name or folder of an installed one, or a loaded one. ``types`` add to
    ``TYPES``; a label without a type is the type. The signature has the name and version of the
    pipeline, and the patterns of its rulers; change ``version`` with anything else. Raises
    ConfigError without spaCy or such a pipeline; nothing is downloaded.
    """

    pipeline: Any
    types: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    _lock: Lock = field(default_factory=Lock, repr=False)

    schema = None
    free = True
    shares = True  # a pipe
    sure = True

    def __post_init__(self) -> None:
        """Load the pipeline."""
        if isinstance(self.pipeline, str):
            object.__setattr__(self, "pipeline", _load(self.pipeline))

    @property
    def signature(self) -> str:
        """A hash of the pipeline, the patterns of its rulers, and the types."""
        pipeline = self.pipeline
        made = [pipeline.meta.get(key, "") for key in ("lang", "name", "version", "spacy_version")]
        parts = [(name, _patterns(pipe)) for name, pipe in pipeline.pipeline]
        return digest(["spacy", FORM, self.version, made, parts, sorted(self.types.items())])

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:  # noqa: ARG002
        """Return no calls."""
        return ExtractionForecast()

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the entities of some chunks, in a thread."""
        return await asyncio.to_thread(self._extract, chunks)

    def _extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        with self._lock:  # a pipeline serves one thread at a time
            texts = [*self.pipeline.pipe(chunk.text for chunk in chunks)]
        return [
            extraction_of(
                chunk,
                (
                    TaggedPlace(one.start_char, one.end_char, kind)
                    for one in text.ents
                    if (kind := self._type(one.label_))
                ),
            )
            for chunk, text in zip(chunks, texts, strict=True)
        ]

    def _type(self, label: str) -> str:
        return self.types.get(label, TYPES.get(label, label))


def _patterns(pipe: object) -> str:
    """Return the patterns of a ruler; empty for another part of a pipeline."""
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
