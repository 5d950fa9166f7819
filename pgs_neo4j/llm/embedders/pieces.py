"""Divides long texts into pieces, fills calls with them, and joins the vectors of the pieces.

If a text is longer than a model reads, its vector is the mean of its pieces' vectors, weighted by
their length and scaled to length 1. OpenAI's cookbook describes this method for texts that are
longer than the context of an embedding model. Embedders and rerankers send pieces in the same way,
and learn from refusals how many an endpoint accepts in one call.
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
"""``spaced``: other scripts with spaces between words. ``unspaced``: scripts without spaces."""

_FOREIGN = re.compile("[^\x00-\x7f]+")
LEAST_CHARACTERS = 20
"""A refused text with fewer than twice this many characters is not divided further."""
SURELY_READ = 32
"""Estimated tokens that every model reads.

Some models read only 128 tokens, and in the worst case each token is a single byte.
"""
FOREIGN_SHARE = 0.1
"""Maximum share of the characters of a Latin text that may be outside ASCII."""
EVEN = 1.05  # times the even share of a piece; without slack, some words would need another piece

# The tokens of a call are an estimate. So the search for the limit stops once a refused call has at
# most CLOSE times the accepted tokens, and a refusal below an accepted size lowers that size by a
# tenth.
CLOSE = 1.2
LOWERED = 0.9


def weigh(text: str) -> int:
    """Estimate the tokens of a text, also of code and lists with many punctuation marks."""
    tokens = estimate(text)
    return tokens if tokens <= SURELY_READ else max(tokens, ceil(measure(text).runs))


def name_script(text: str) -> Script:
    """Return the script of a text.

    Within one script, a model's true tokens are in about the same ratio to the estimate. Between
    scripts the ratio differs: a model for English may need a token for each letter of Russian.
    """
    if text.isascii():
        return "Latin"
    foreign = sum(map(len, _FOREIGN.findall(text)))
    if foreign <= FOREIGN_SHARE * len(text):
        return "Latin"
    unspaced = measure(text).unspaced * UNSPACED_PER_TOKEN
    return "unspaced" if unspaced > foreign / 2 else "spaced"


def divide_text(text: str, most: int) -> list[str]:
    """Divide a text into about equally long pieces of about ``most`` tokens or fewer.

    Pieces end between words if possible. Blank pieces are left out.
    """
    text = text.encode("utf-8", "replace").decode()  # ``chunks`` accepts no lone surrogates
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
    """Return the unit vector ``(d,)`` of a text from the vectors of its pieces ``(n, d)``."""
    if len(vectors) == 1:
        return vectors[0]
    shares = np.asarray(weights, np.float64)
    mean = np.asarray(vectors, np.float64).T @ (shares / shares.sum())
    return unit(mean).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, or a part of a text that is too long, with the place of the text.

    Both sizes are estimates in tokens: ``weight`` decides if the piece is divided, and ``tokens``
    how many pieces go into a call.
    """

    text: str
    place: int
    weight: int
    tokens: int


@dataclass(slots=True)
class PieceQueue:
    """Pieces that wait to be sent, and calls that were refused and will be sent in halves.

    ``sizes`` are the sizes that the endpoint accepts, as far as they are known. ``most_texts`` and
    ``most_tokens`` limit each call, even if the endpoint accepts more.
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
        """Take the pieces of the next call.

        At most one call in flight is larger than any accepted call.
        """
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
        """Return whether a call is larger than the sizes that are known to be accepted."""
        tokens = sum(piece.tokens for piece in batch)
        return not self.sizes.fits(len(batch), tokens, surely=True)

    def accept(self, batch: Sequence[Piece]) -> None:
        """Note that a call of this size was accepted."""
        self.sizes.accept(len(batch), sum(piece.tokens for piece in batch))

    def put_back(self, pieces: Iterable[Piece]) -> None:
        """Put pieces in front of all others that wait."""
        self.waiting.extendleft(reversed([*pieces]))

    def send_first(self, pieces: Sequence[Piece]) -> None:
        """Move waiting pieces to the front, into calls of their own."""
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
        """Send a call of several pieces again as two calls."""
        middle = len(batch) // 2
        self._halves.extendleft((batch[middle:], batch[:middle]))

    def make_smaller(self, batch: list[Piece]) -> None:
        """Send a call of several pieces, which was refused for its size, again in smaller calls."""
        tokens = sum(piece.tokens for piece in batch)
        if self.sizes.refuse([piece.text for piece in batch], tokens):
            self.put_back(batch)
        else:
            self.halve(batch)

    def take_waiting(self) -> deque[Piece]:
        """Take all waiting pieces in their order, except pieces of refused calls."""
        waiting, self.waiting = self.waiting, deque()
        return waiting

    def join_halves(self) -> None:
        """Put the pieces of refused calls back among the waiting pieces, so they can be divided."""
        while self._halves:
            self.put_back(self._halves.pop())


@dataclass(slots=True)
class CallSizes:
    """The sizes of calls that an endpoint accepts, shared by all calls to it.

    A refusal does not reliably name the limit that a call exceeds: the number of texts, or of
    tokens. An accepted call shows which of them it cannot be. The next call tries the middle
    between an accepted and a refused size. So the limits are found after a logarithmic number of
    refusals, and kept for all later calls.

    ``texts`` and ``tokens`` are the largest numbers that were accepted. Tokens are estimates. While
    ``trying``, a call in flight is larger than these, and no other call may be.
    """

    texts: int = 0
    tokens: int = 0
    trying: bool = False
    _refused: list[_RefusedCall] = field(default_factory=list)

    def fits(self, texts: int, tokens: int, *, surely: bool = False) -> bool:
        """Return whether a call may be accepted. One text always fits, because no call is smaller.

        With ``surely``, it must not exceed the sizes that were accepted before.
        """
        return texts <= 1 or all(
            self._is_below(one, texts, tokens, surely=surely) for one in self._refused
        )

    def accept(self, texts: int, tokens: int) -> None:
        """Note that a call was accepted."""
        self.texts, self.tokens = max(self.texts, texts), max(self.tokens, tokens)
        self._refused = [
            one for one in self._refused if len(one.texts) > texts or one.tokens > tokens
        ]

    def refuse(self, texts: Sequence[str], tokens: int) -> bool:
        """Note that a call of several texts was refused because of its size.

        Returns whether it was larger than all accepted calls. Otherwise, one of its texts may be
        too long by itself.
        """
        larger = len(texts) > self.texts or tokens > self.tokens
        if not larger:
            # The number of texts is exact, so only the estimate of their tokens can be wrong.
            self.tokens = int(tokens * LOWERED)
        self._refused.append(_RefusedCall(tuple(texts), tokens))
        return larger

    def excuse(self, text: str) -> None:
        """Forget the refusals of calls that held a text, because it is too long by itself."""
        self._refused = [one for one in self._refused if text not in one.texts]

    def _is_below(self, refused: _RefusedCall, texts: int, tokens: int, *, surely: bool) -> bool:
        """Return whether a call stays below the limit that a refused call has shown.

        If the refused call exceeded the accepted calls only in texts, or only in tokens, that
        number is limited. Otherwise it is unknown which is limited, and it is enough to stay below
        one of the two.
        """
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
