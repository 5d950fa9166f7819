"""Which chunks of some documents are extracted together."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.documents.extract.buying import prompt_groups
from pgs_neo4j.documents.wanted import Basis, WantedChunk, WantedDocument
from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.text.chunking import chunk_document
from tests.fakes.extractors import WordExtractor


def wanted(text: str) -> WantedChunk:
    chunk: Chunk
    (chunk,) = chunk_document(DocumentText(text=text))
    return WantedChunk(id=text[:9], chunk=chunk, bases=(Basis(text[:9], ""),))


def documents(chunks: Sequence[WantedChunk]) -> list[WantedDocument]:
    return [
        WantedDocument(id=one.id, state="added", hash="", size=1, chunks=[one]) for one in chunks
    ]


SMALL = [wanted(f"Small {number} is short.") for number in range(3)]
LARGE = wanted("Large is long, and never short. " * 80)


def test_a_large_chunk_is_alone_wherever_it_stands() -> None:
    for place in range(len(SMALL) + 1):
        missing = [*SMALL[:place], LARGE, *SMALL[place:]]
        groups = prompt_groups(documents(missing), (), WordExtractor(shares=True))
        assert groups == [[LARGE], SMALL]


def test_what_is_known_and_what_is_repeated_is_not_extracted() -> None:
    missing = [*SMALL, SMALL[1], LARGE]
    groups = prompt_groups(documents(missing), {SMALL[0].extraction_key}, WordExtractor())
    assert groups == [[SMALL[1]], [SMALL[2]], [LARGE]]
