"""Divides documents into chunks: stretches of text with headings, pages, and context.

Chunks end where sentences end, and most stay the same when a document is edited. ``ChunkRules`` set
how large they are, and where they may end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, DocumentText, GivenEntity, OutlineEntry, Sentence
from pgs_neo4j.text.chunk_groups import (
    SizedSentence,
    divide,
    end_groups,
    fill_groups,
    hash_ranks,
    similarity_ranks,
    size_bytes,
    sized,
)
from pgs_neo4j.text.line_labels import find_label
from pgs_neo4j.text.sentences import split_sentences
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN

LONGEST_TITLE = 200
MOST_SENTENCES = 1_000_000
"""Number of sentences that any document may have. Each needs some 200 bytes of memory until all
chunks are made."""

MOST_LABELS = 1_000
"""If a record has at most this many labels, each chunk carries all; few tables have more."""

LEAST_LETTERS = 20
"""Minimum average length of sentences, in characters, in a document with more than
``MOST_SENTENCES``."""

_MARKS = re.compile(r"^[\s#]+|[\s#]+$")

ChunkStrategy = Literal["content", "token", "sentence", "semantic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRules:
    """Strategy and sizes of chunks, in estimated tokens.

    A document over ``large_bytes`` has chunks of ``large_size``. ``content`` and ``semantic``
    chunks have between half and one and a half times the size. ``overlap`` is the size of the text
    before a chunk that is shown as context; smaller chunks have less.
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
        """Return the size limit of a chunk's context, in UTF-8 bytes."""
        share = self.size_for(document_bytes) / max(1, self.size)
        return int(self.overlap * share * BYTES_PER_TOKEN)

    @property
    def signature(self) -> str:
        """A hash of the rules: documents with the same rules have the same chunks."""
        sizes = [self.size, self.overlap, self.large_size, self.large_bytes]
        return digest([self.strategy, *sizes])


_NO_RULES = ChunkRules()


def chunk_document(
    document: DocumentText,
    rules: ChunkRules = _NO_RULES,
    vectors: NDArray[np.floating] | None = None,
) -> Iterator[Chunk]:
    """Yield the chunks of a document in order; their joined texts are its text.

    A document of at most one and a half times the size is one chunk. The strategy ``semantic``
    needs ``vectors`` ``(n, d)``, one for each sentence that ``split_sentences`` yields. Raises
    ValueError without these vectors, and if a text has too many sentences for its size.
    """
    total = size_bytes(document.text)
    groups = _group_sentences(document.text, total, rules, vectors)
    yield from _make_chunks(document, groups, rules.overlap_bytes_for(total))


def chunks_ending(
    document: DocumentText, ends: Sequence[int], rules: ChunkRules = _NO_RULES
) -> Iterator[Chunk]:
    """Yield the chunks of a document that end at the given places of its text.

    Of the rules, only the overlap counts. Raises ValueError unless ``ends`` increase and the last
    one is the end of the text. Also raises it if a text has too many sentences for its size.
    """
    text = document.text
    groups = end_groups(text, bounded_sentences(text), ends)
    yield from _make_chunks(document, groups, rules.overlap_bytes_for(size_bytes(text)))


def _make_chunks(
    document: DocumentText, groups: Iterable[list[SizedSentence]], overlap: int
) -> Iterator[Chunk]:
    """Yield the chunk of each group, with the headings and the context before it."""
    text, past = document.text, _Past(document, overlap)
    for index, group in enumerate(groups):
        sentences = [one.sentence for one in group]
        start, end = sentences[0].start, sentences[-1].end
        stretch = text[start:end]
        yield Chunk(
            index=index,
            start=start,
            end=end,
            text=stretch,
            hash=digest(stretch),
            # Calling ``replace`` would take ten times as long, and there are many sentences.
            sentences=tuple(
                Sentence(one.start - start, one.end - start, one.kind, one.opens, one.level)
                for one in sentences
            ),
            context=text[past.context_start(start) : start],
            path=past.path_at(sentences[0]),
            page=_find_page(document.page_starts, start, stretch),
            given=past.given_in(start, end),
            labels=past.labels_of(stretch),
        )
        past.add(group)


def _group_sentences(
    text: str, total: int, rules: ChunkRules, vectors: NDArray[np.floating] | None
) -> Iterable[list[SizedSentence]]:
    """Return the sentences of each chunk, grouped by the strategy of the rules."""
    room = rules.room_for(total)
    sentences = sized(text, bounded_sentences(text))
    if rules.strategy in ("token", "sentence"):
        return fill_groups(text, sentences, room, cut=rules.strategy == "token")
    if rules.strategy == "content":
        return _divide_by_ranks(text, list(sentences), room, None)
    if vectors is None:
        raise ValueError("the strategy 'semantic' needs a vector for each sentence")
    return _divide_by_ranks(text, list(sentences), room, vectors)


def bounded_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text. Raises ValueError if there are too many for its size."""
    most = max(MOST_SENTENCES, len(text) // LEAST_LETTERS)
    for number, sentence in enumerate(split_sentences(text)):
        if number == most:
            raise ValueError(
                f"it has more than {most:,} sentences of less than {LEAST_LETTERS} characters on "
                "average; split it"
            )
        yield sentence


def _divide_by_ranks(
    text: str, sentences: list[SizedSentence], room: int, vectors: NDArray[np.floating] | None
) -> Iterator[list[SizedSentence]]:
    plain = [one.sentence for one in sentences]
    ranks = hash_ranks(text, plain) if vectors is None else similarity_ranks(vectors, plain)
    sizes = np.fromiter((one.size for one in sentences), np.int64, len(sentences))
    for first, last in divide(sizes, room, ranks):
        yield sentences[first:last]


@dataclass(slots=True)
class _Past:
    """The text before a chunk: the headings above it, and sentences that may be its context."""

    document: DocumentText
    overlap: int
    headings: list[OutlineEntry] = field(default_factory=list)
    recent: deque[SizedSentence] = field(default_factory=deque)
    read: int = 0  # entries of the outline read so far
    placed: int = 0  # given entities placed in a chunk so far
    _labels: frozenset[str] = frozenset()

    def add(self, group: Sequence[SizedSentence]) -> None:
        """Add the sentences of a chunk to the past, after the chunk was made."""
        size = 0
        self.recent.clear()
        for one in reversed(group):
            size += one.size
            self.recent.appendleft(one)
            if size >= self.overlap:
                break
        if not self.document.outline:
            for one in group:
                if one.sentence.kind == "heading":
                    self._add_heading(self._make_entry(one.sentence))

    def context_start(self, start: int) -> int:
        """Return where the context begins: at a sentence, or else at a word, so that it fits."""
        size = 0
        begin = start
        for one in reversed(self.recent):
            size += one.size
            if size > self.overlap:
                break
            begin = one.sentence.start
        if begin < start or not self.recent or not self.overlap:
            return begin
        last = self.recent[-1].sentence
        raw = self.document.text[max(last.start, start - self.overlap) : start].encode(
            "utf-8", "replace"
        )
        tail = raw[-self.overlap :].decode("utf-8", "ignore")
        blank = re.search(r"\s\S", tail)
        return start - len(tail) + blank.start() + 1 if blank else start

    def path_at(self, first: Sentence) -> tuple[str, ...]:
        """Return the titles above a chunk that begins with the sentence ``first``."""
        outline = self.document.outline
        while self.read < len(outline) and outline[self.read].start < first.start:
            self._add_heading(outline[self.read])
            self.read += 1
        level = first.level if first.kind == "heading" else 0
        if self.read < len(outline) and outline[self.read].start < first.end:
            level = level or outline[self.read].level
        above = [one for one in self.headings if not level or one.level < level]
        return tuple(one.title for one in above)

    def given_in(self, start: int, end: int) -> tuple[GivenEntity, ...]:
        """Return the given entities that begin in a chunk, with their places in it."""
        given, first = self.document.given, self.placed
        while self.placed < len(given) and given[self.placed].start < end:
            self.placed += 1
        return tuple(
            replace(one, start=one.start - start, end=one.end - start)
            for one in given[first : self.placed]
        )

    def labels_of(self, text: str) -> tuple[str, ...]:
        """Return the labels of a chunk: all labels of its document if there are few.

        If there are very many, only labels that begin the chunk's own lines are returned. If each
        chunk of a wide record carried all labels, time would grow with the square of its size.
        """
        labels = self.document.labels
        if len(labels) <= MOST_LABELS:
            return labels
        self._labels = self._labels or frozenset(labels)
        found = (line[: find_label(line, self._labels)] for line in text.split("\n"))
        return tuple(dict.fromkeys(label for label in found if label))

    def _add_heading(self, entry: OutlineEntry) -> None:
        """Add a heading, cut to ``LONGEST_TITLE``, because every chunk below repeats its title."""
        while self.headings and self.headings[-1].level >= entry.level:
            self.headings.pop()
        if len(entry.title) > LONGEST_TITLE:
            entry = replace(entry, title=entry.title[:LONGEST_TITLE])
        self.headings.append(entry)

    def _make_entry(self, sentence: Sentence) -> OutlineEntry:
        """Return a heading's sentence as an entry of the outline, without marks."""
        line = self.document.text[sentence.start : sentence.end].strip().partition("\n")[0]
        title = " ".join(_MARKS.sub("", line).split())[:LONGEST_TITLE]
        return OutlineEntry(sentence.start, sentence.level, title)


def _find_page(page_starts: Sequence[int], start: int, text: str) -> int | None:
    """Return the page of a chunk's first word, counted from 1; None without pages."""
    if not page_starts:
        return None
    first = start + len(text) - len(text.lstrip())
    return max(1, bisect_right(page_starts, first))
