"""Which chunks of some documents are extracted together."""

from __future__ import annotations

from pgs_neo4j.ingest.documents import Basis, WantedChunk
from pgs_neo4j.ingest.extract.buying import shared
from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.text.chunking import chunk_document
from tests.fakes.extractors import WordExtractor


def wanted(text: str) -> WantedChunk:
    chunk: Chunk
    (chunk,) = chunk_document(DocumentText(text=text))
    return WantedChunk(id=text[:9], chunk=chunk, bases=(Basis(text[:9], ""),))


SMALL = [wanted(f"Small {number} is short.") for number in range(3)]
LARGE = wanted("Large is long, and never short. " * 80)


def test_a_large_chunk_is_alone_wherever_it_stands() -> None:
    for place in range(len(SMALL) + 1):
        missing = [*SMALL[:place], LARGE, *SMALL[place:]]
        assert shared(missing, WordExtractor(shares=True)) == [[LARGE], SMALL]


def test_an_extractor_that_shares_nothing_has_each_chunk_alone() -> None:
    assert shared([SMALL[0], LARGE], WordExtractor()) == [[SMALL[0]], [LARGE]]
