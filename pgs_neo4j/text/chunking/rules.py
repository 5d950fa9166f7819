"""How large chunks are, and where they may end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN

ChunkStrategy = Literal["content", "token", "sentence", "semantic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRules:
    """Sizes in tokens, as estimated; ``large_bytes`` is the size of a large document.

    ``content`` and ``semantic`` chunks have between half and one and a half times the size.
    ``overlap`` is of the text before a chunk that is shown as context; smaller chunks have less.
    """

    strategy: ChunkStrategy = "content"
    size: int = 1200
    overlap: int = 100
    large_size: int = 600
    large_bytes: int = 100_000

    def size_for(self, document_bytes: int) -> int:
        """Return the size of the chunks of a document, in tokens."""
        if document_bytes > self.large_bytes:
            return min(self.size, self.large_size)
        return self.size

    def room_for(self, document_bytes: int) -> int:
        """Return the size of the chunks of a document, in UTF-8 bytes."""
        return max(1, int(self.size_for(document_bytes) * BYTES_PER_TOKEN))

    def overlap_bytes_for(self, document_bytes: int) -> int:
        """Return the most UTF-8 bytes of a chunk's context."""
        share = self.size_for(document_bytes) / max(1, self.size)
        return int(self.overlap * share * BYTES_PER_TOKEN)

    @property
    def signature(self) -> str:
        """A hash of the rules: documents with the same rules have the same chunks."""
        sizes = [self.size, self.overlap, self.large_size, self.large_bytes]
        return digest([self.strategy, *sizes])
