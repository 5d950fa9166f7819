"""Chunkers that end chunks at some sign, for tests of ingestion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pgs_neo4j.model.documents import DocumentText


@dataclass
class SignChunker:
    """Ends a chunk after each sign. Texts with some words raise an error."""

    sign: str = ";"
    errors: dict[str, Exception] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        return f"sign {self.sign}"

    async def divide(self, document: DocumentText) -> Sequence[int]:
        text = document.text
        for word, error in self.errors.items():
            if word in text:
                raise error
        ends = [at for at, letter in enumerate(text, start=1) if letter == self.sign]
        return ends if ends and ends[-1] == len(text) else [*ends, len(text)]


def make_chunker() -> SignChunker:
    """Return a chunker, as a function that settings may name."""
    return SignChunker(".")
