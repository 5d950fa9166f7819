"""Sentences with their sizes in bytes, and a text's size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pgs_neo4j.model.documents import Sentence


@dataclass(frozen=True, slots=True)
class SizedSentence:
    """A sentence of a document, and its UTF-8 bytes."""

    sentence: Sentence
    size: int


def size_bytes(text: str) -> int:
    """Return the number of UTF-8 bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def sized(text: str, sentences: Iterable[Sentence]) -> Iterator[SizedSentence]:
    """Yield the sentences of a text with their sizes."""
    for sentence in sentences:
        yield _sized(text, sentence)


def cut_sentence(
    text: str, whole: SizedSentence, room: int, *, inside_words: bool
) -> tuple[SizedSentence, SizedSentence] | None:
    """Cut a sentence after a word, so that the first part has at most ``room`` bytes.

    None if nothing of it fits. ``inside_words`` it may be cut where no word ends.
    """
    sentence = whole.sentence
    head = text[sentence.start : sentence.start + max(room, 0)]
    fitting = head.encode("utf-8", "replace")[: max(room, 0)].decode("utf-8", "ignore")
    end = sentence.start + len(fitting)
    blank = max(text.rfind(mark, sentence.start, end) for mark in " \n") + 1
    if blank <= sentence.start and not inside_words:
        return None
    end = blank or end
    if not sentence.start < end < sentence.end:
        return None
    first = replace(sentence, end=end)
    rest = replace(sentence, start=end, opens=False)
    return _sized(text, first), _sized(text, rest)


def _sized(text: str, sentence: Sentence) -> SizedSentence:
    return SizedSentence(sentence, size_bytes(text[sentence.start : sentence.end]))
