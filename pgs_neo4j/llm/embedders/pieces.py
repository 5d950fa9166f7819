"""Divides long texts into pieces, fills calls with them, and joins the vectors of the pieces.

The vector of a text that is longer than a model reads is the mean of the vectors of its pieces,
weighted by their length and scaled to length 1. That is the method that OpenAI's cookbook describes
for texts longer than the context of an embedding model. Embedders and rerankers send pieces in the
same way, and learn from refusals how many an endpoint takes in one call.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.text.prompt_text import MARGIN, chunks
from pgs_neo4j.text.tokens import UNSPACED_PER_TOKEN, estimate, measure

Script = Literal["Latin", "spaced", "unspaced"]
"""``spaced`` are other scripts with spaces between words, ``unspaced`` those without."""

_FOREIGN = re.compile("[^\x00-\x7f]+")
LEAST_CHARACTERS = 20
"""Of a text that is divided until an endpoint accepts its pieces."""
SURELY_READ = 32
"""Tokens by estimate that every model reads of a text: some read 128, and a token has a byte."""
FOREIGN_SHARE = 0.1
"""Of the letters of a text in Latin, at most, that are not ASCII."""
EVEN = 1.05  # room of a piece, so that words at the ends do not make another piece

# The tokens of a call are an estimate. A limit on them is not searched more closely than this, and
# a call that is refused below it lowers it by a tenth.
CLOSE = 1.2
LOWERED = 0.9


def weigh(text: str) -> int:
    """Return the tokens of a text by estimate, also for code and lists, which have many marks."""
    tokens = estimate(text)
    return tokens if tokens <= SURELY_READ else max(tokens, ceil(measure(text).runs))


def name_script(text: str) -> Script:
    """Return how a text is written.

    Tokens of one vocabulary are alike in it, whatever the estimate: a model that was made for
    English takes each letter of Russian as a token.
    """
    if text.isascii():
        return "Latin"
    foreign = sum(map(len, _FOREIGN.findall(text)))
    if foreign <= FOREIGN_SHARE * len(text):
        return "Latin"
    unspaced = measure(text).unspaced * UNSPACED_PER_TOKEN
    return "unspaced" if unspaced > foreign / 2 else "spaced"


def divide_text(text: str, most: int) -> list[str]:
    """Return pieces of a text that are about equally long, of about ``most`` tokens or fewer.

    They end at words where possible, and hold all of the text but blank pieces.
    """
    text = text.encode("utf-8", "replace").decode()  # ``chunks`` takes no lone surrogates
    tokens = weigh(text)
    if tokens <= most:
        return [text]
    count = ceil(tokens / most)
    size = len(text.encode())
    room = max(MARGIN + 4, min(ceil(EVEN * size / count) + MARGIN, size * most // tokens))
    return [piece for piece in chunks(text, (room, room)) if piece.strip()]


def join_pieces(
    vectors: Sequence[NDArray[np.float32]], weights: Sequence[int]
) -> NDArray[np.float32]:
    """Return the unit vector ``(d,)`` of a text from those of its pieces ``(n, d)``."""
    if len(vectors) == 1:
        return vectors[0]
    shares = np.asarray(weights, np.float64)
    mean = np.asarray(vectors, np.float64).T @ (shares / shares.sum())
    return unit(mean).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, or a part of one that is too long, with the place of the text.

    Both sizes are estimates in tokens: ``weight`` decides whether it is divided, ``tokens`` how
    many pieces go in a call.
    """

    text: str
    place: int
    weight: int
    tokens: int


@dataclass(slots=True)
class PieceQueue:
    """Pieces that wait to be sent, and calls that were refused and are to be sent in halves.

    ``sizes`` is what the endpoint is known to take. No call is larger than the other two, however
    much it takes.
    """

    sizes: CallSizes
    most_texts: int
    most_tokens: int
    waiting: deque[Piece] = field(default_factory=deque)
    _halves: deque[list[Piece]] = field(default_factory=deque)

    def __iter__(self) -> Iterator[Piece]:
        """Yield all pieces that are left to send."""
        return chain(*self._halves, self.waiting)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to send."""
        return not (self.waiting or self._halves)

    def next_call(self) -> list[Piece]:
        """Take the pieces of the next call; one call at a time is larger than any before."""
        if self._halves:
            return self._halves.popleft()
        batch: list[Piece] = []
        tokens = 0
        while self.waiting and len(batch) < self.most_texts:
            total = tokens + self.waiting[0].tokens
            fits = self.sizes.fits(len(batch) + 1, total, surely=self.sizes.trying)
            if batch and (total > self.most_tokens or not fits):
                break
            batch.append(self.waiting.popleft())
            tokens = total
        return batch

    def is_larger(self, batch: Sequence[Piece]) -> bool:
        """Return whether a call is larger than what is known to be accepted."""
        tokens = sum(piece.tokens for piece in batch)
        return not self.sizes.fits(len(batch), tokens, surely=True)

    def accept(self, batch: Sequence[Piece]) -> None:
        """Take in that a call of this size was accepted."""
        self.sizes.accept(len(batch), sum(piece.tokens for piece in batch))

    def put_back(self, pieces: Iterable[Piece]) -> None:
        """Send pieces before all others that wait."""
        self.waiting.extendleft(reversed([*pieces]))

    def send_first(self, pieces: Sequence[Piece]) -> None:
        """Send pieces that wait before all others, in calls without others."""
        batch: list[Piece] = []
        calls = [batch]
        for piece in pieces:
            self.waiting.remove(piece)
            full = sum(one.tokens for one in batch) + piece.tokens > self.most_tokens
            if batch and (full or len(batch) == self.most_texts):
                batch = []
                calls.append(batch)
            batch.append(piece)
        self._halves.extendleft(reversed([call for call in calls if call]))

    def halve(self, batch: list[Piece]) -> None:
        """Send a call of several pieces again, as two."""
        middle = len(batch) // 2
        self._halves.extendleft((batch[middle:], batch[:middle]))

    def make_smaller(self, batch: list[Piece]) -> None:
        """Send a call of several pieces again in smaller ones, as it was refused for its size."""
        tokens = sum(piece.tokens for piece in batch)
        if self.sizes.refuse([piece.text for piece in batch], tokens):
            self.put_back(batch)
        else:
            self.halve(batch)

    def take_waiting(self) -> deque[Piece]:
        """Take all pieces that wait, in their order, but those of refused calls."""
        waiting, self.waiting = self.waiting, deque()
        return waiting

    def join_halves(self) -> None:
        """Send the pieces of refused calls like all others, because they are to be divided."""
        while self._halves:
            self.put_back(self._halves.pop())


@dataclass(slots=True)
class CallSizes:
    """The sizes of calls that an endpoint accepts, shared by all calls to it.

    A refusal does not say reliably which limit it is about. A call that is accepted rules out one
    limit, and the middle between an accepted and a refused call is tried next. So the limits are
    found in a logarithmic number of refusals, and kept for all later calls.

    ``texts`` and ``tokens`` are the most that were accepted. Tokens are estimates. ``trying``: a
    call in flight is larger than these, and one at a time is enough.
    """

    texts: int = 0
    tokens: int = 0
    trying: bool = False
    _refused: list[_RefusedCall] = field(default_factory=list)

    def fits(self, texts: int, tokens: int, *, surely: bool = False) -> bool:
        """Return whether a call may be accepted; ``surely``: only by what was accepted before.

        Nothing is smaller than one text.
        """
        return texts <= 1 or all(
            self._is_below(one, texts, tokens, surely=surely) for one in self._refused
        )

    def accept(self, texts: int, tokens: int) -> None:
        """Take in that a call was accepted."""
        self.texts, self.tokens = max(self.texts, texts), max(self.tokens, tokens)
        self._refused = [
            one for one in self._refused if len(one.texts) > texts or one.tokens > tokens
        ]

    def refuse(self, texts: Sequence[str], tokens: int) -> bool:
        """Take in that a call of several texts was refused because of its size.

        Return whether it was larger than all that were accepted. Otherwise one of its texts may be
        too long by itself.
        """
        larger = len(texts) > self.texts or tokens > self.tokens
        if not larger:
            # Texts are counted exactly, and their tokens are not.
            self.tokens = int(tokens * LOWERED)
        self._refused.append(_RefusedCall(tuple(texts), tokens))
        return larger

    def excuse(self, text: str) -> None:
        """Forget refusals of calls with a text that is too long by itself."""
        self._refused = [one for one in self._refused if text not in one.texts]

    def _is_below(self, refused: _RefusedCall, texts: int, tokens: int, *, surely: bool) -> bool:
        count = len(refused.texts)
        most_texts, most_tokens = self.texts, self.tokens
        if not surely:
            most_texts = (most_texts + count) // 2
            if refused.tokens > CLOSE * most_tokens:
                most_tokens = (most_tokens + refused.tokens) // 2
        if count > self.texts and refused.tokens <= self.tokens:
            return texts <= most_texts
        if count <= self.texts and refused.tokens > self.tokens:
            return tokens <= most_tokens
        return texts <= most_texts or tokens <= most_tokens


@dataclass(frozen=True, slots=True)
class _RefusedCall:
    texts: tuple[str, ...]
    tokens: int
