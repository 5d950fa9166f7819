"""Chunks as extraction receives them."""

from __future__ import annotations

from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.text.chunking import chunk_document


def chunk_of(text: str) -> Chunk:
    """A text that is one chunk."""
    (chunk,) = chunk_document(DocumentText(text=text))
    return chunk
