"""Divides documents into chunks at the ends of sentences, stable under edits."""

from pgs_neo4j.text.chunking.chunks import bounded_sentences, chunk_document, chunks_ending
from pgs_neo4j.text.chunking.rules import ChunkRules, ChunkStrategy

__all__ = ["ChunkRules", "ChunkStrategy", "bounded_sentences", "chunk_document", "chunks_ending"]
