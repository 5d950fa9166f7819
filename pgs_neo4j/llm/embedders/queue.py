"""Fills calls with pieces of texts, and makes smaller ones of those that an endpoint refuses.

Embedders and rerankers send texts in the same way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pgs_neo4j.llm.embedders.sizes import CallSizes


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
