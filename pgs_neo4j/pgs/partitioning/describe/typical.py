"""Chooses sentences that are typical of a partition.

All candidates come from the beginnings of the heaviest nodes' texts, which were kept, so that no
text is read again. A sentence is typical if it contains many words that distinguish the partition.
Lines that many nodes share, such as copyright lines and headers, are removed first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgs_neo4j.llm.extractive.sentences import sentences
from pgs_neo4j.text.node_text import shortened
from pgs_neo4j.text.terms.plain import without_markup

OPENING = 2000  # maximum characters to keep of one text
MOST_OPENINGS = 24  # maximum number of texts to keep of a partition
ROOM = 6_000  # maximum characters to keep of a partition
ALL_ROOM = 24_000_000  # characters to keep of all partitions, unless LEAST_ROOM for each needs more
LEAST_ROOM = 2_000
SHARED_BY = 3  # minimum number of nodes that share a line of boilerplate
LONG_LINE = 200  # characters; a longer line counts as a paragraph
PARAGRAPHS = 4  # best paragraphs, whose sentences are candidates
SENTENCES, LONGEST = 2, 240  # number of sentences of a partition, and maximum characters of each
FEWEST_WORDS, SHORTEST_UNSPACED = 6, 10  # minimum words, or letters if unspaced, of a sentence
ENDS, UNSPACED_ENDS = ".!?;:\u061f\u0964", "\u3002\uff01\uff1f\uff61"
USED = 0.2  # factor for a word that an earlier chosen sentence contains
TYPICAL_WORDS = 12  # added to the length, so that very short sentences do not win

_WORD = re.compile(r"[^\W\d_][^\W_]{2,39}")
_ALL_ENDS = ENDS + UNSPACED_ENDS
_END = re.compile(r"(?<=[.!?;\u061f\u0964])\s+|(?<=[\u3002\uff01\uff1f\uff61])")
_UNSPACED_END = re.compile(r"(?<=[\u3002\uff01\uff1f\uff61\n])")
_BLOCKS = ("```", "<!--", "<script", "<style", "<pre")
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(slots=True)
class Openings:
    """Beginnings of the texts of a partition, the heaviest nodes first, within ``room``."""

    room: int
    texts: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Keep the beginning of a text while there is room."""
        if self.room > 0 and len(self.texts) < MOST_OPENINGS:
            self.texts.append(text[: min(OPENING, self.room)])
            self.room -= len(self.texts[-1])


def opening_room(partition_count: int) -> int:
    """Return the number of characters to keep for each partition."""
    return min(max(ALL_ROOM // max(partition_count, 1), LEAST_ROOM), ROOM)


class Boilerplate:
    """Finds and removes lines that the texts of many nodes share, and sentences of long lines."""

    def __init__(self, openings: Iterable[Openings]) -> None:
        # Hashes take only a fraction of the lines' memory.
        rows = [
            np.array(list({hash(piece) for piece in _split_lines(text)}), np.int64)
            for beginnings in openings
            for text in beginnings.texts
        ]
        pieces = np.concatenate([np.zeros(0, np.int64), *rows])
        distinct, counts = np.unique(pieces, return_counts=True)
        self._shared = frozenset(distinct[counts >= SHARED_BY].tolist())

    def remove(self, text: str) -> str:
        """Return a text without its boilerplate."""
        if not self._shared:
            return text
        return "\n".join(map(self._remove_from_line, text.splitlines()))

    def _remove_from_line(self, line: str) -> str:
        if len(line) <= LONG_LINE:
            return "" if hash(line.strip()) in self._shared else line
        return " ".join(piece for piece in _split_lines(line) if hash(piece) not in self._shared)


def _split_lines(text: str) -> Iterator[str]:
    """Yield the lines that are not blank. Long lines are split into sentences."""
    for line in text.splitlines():
        for piece in _END.split(line) if len(line) > LONG_LINE else (line,):
            if stripped := piece.strip():
                yield stripped


def choose_sentences(
    openings: Openings, weights: Mapping[str, float], boilerplate: Boilerplate
) -> tuple[str, ...]:
    """Return the most typical sentences of a partition, at most ``SENTENCES``, best first.

    ``weights`` has the words that distinguish the partition. Ties go to the heavier node.
    """
    texts = (_remove_blocks(boilerplate.remove(text)) for text in openings.texts)
    paragraphs = [part for text in texts for part in _PARAGRAPH.split(text) if part.strip()]
    prose = [part for part in paragraphs if ". " in part or part.rstrip()[-1] in _ALL_ENDS]
    candidates = dict.fromkeys(
        sentence
        for paragraph in _choose_best(prose or paragraphs, weights, PARAGRAPHS)
        for sentence in _split_sentences(without_markup(paragraph))
    )
    statements = list(filter(_is_statement, candidates))
    best = _choose_best(statements or list(candidates), weights, SENTENCES)
    return tuple(shortened(sentence, LONGEST) for sentence in best)


def _remove_blocks(text: str) -> str:
    """Remove blocks of markup from a text, since they may span several paragraphs."""
    return without_markup(text) if any(mark in text for mark in _BLOCKS) else text


def _split_sentences(paragraph: str) -> Iterable[str]:
    return sentences(paragraph) or filter(None, _UNSPACED_END.split(paragraph))


def _is_statement(sentence: str) -> bool:
    """Return whether text reads as a sentence, not as a heading, a list of names, or code."""
    if sentence[-1] in UNSPACED_ENDS:
        return len(sentence) >= SHORTEST_UNSPACED
    words = sentence.split()
    plain = sum(word.islower() or not word.upper().isupper() for word in words)
    return sentence[-1] in ENDS and len(words) >= FEWEST_WORDS and plain >= len(words) / 2


def _choose_best(texts: Sequence[str], weights: Mapping[str, float], most: int) -> list[str]:
    """Return the texts with the most weight for their length, best first.

    A word in a text that was already chosen counts little, so that no two texts say the same.
    """
    value = dict(weights)
    words = [set(_WORD.findall(text.casefold())) for text in texts]
    telling = [row & weights.keys() for row in words]
    rest = list(range(len(texts)))
    chosen: list[str] = []
    while rest and len(chosen) < most:
        best = max(
            rest,
            key=lambda at: sum(value[w] for w in telling[at]) / (TYPICAL_WORDS + len(words[at])),
        )
        chosen.append(texts[best])
        rest.remove(best)
        for word in telling[best]:
            value[word] *= USED
    return chosen
