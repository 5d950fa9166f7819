"""Embeds texts in calls that their endpoint takes, and no text that was not read as a whole.

Endpoints differ in the texts and tokens of a call, and in what they do with a text that is longer
than their model reads: some refuse it, and many embed its beginning and say nothing. So the longest
text is checked before any vector counts. A text that is too long is embedded in pieces.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import (
    EmbeddingError,
    ModelError,
    ModelOutputError,
    PGSError,
    PromptCutError,
    PromptTooLongError,
)
from pgs_neo4j.llm.embedders.pieces import LEAST_CHARACTERS, divide_text, join_pieces, weigh
from pgs_neo4j.llm.embedders.sizes import CallSizes
from pgs_neo4j.llm.lessons import Lessons, ToldLessons
from pgs_neo4j.llm.protocol import EmbeddedTexts, Embedder, Fitted, Lexical
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.token_floor import LEAST_COUNT
from pgs_neo4j.text.tokens import estimate

SURELY_READ = 200
"""Tokens that every embedding model reads of a text; the smallest ones read 256."""
FILLED = 0.8  # of a limit in a server's tokens, of which dense text has more than the estimate
CUT_SHORT = 0.9  # of the share of a text that was read, so that its pieces are read as a whole
FRAME_TOKENS = 16  # that a model puts around a text, such as its beginning and end
MISCOUNT = 0.04
# Cosines of a text and the same text with more at its end. Repeating a call in half precision
# changes a cosine by about 1e-6, and an eighth more text changes it by more than 1e-3.
SAME, DIFFERENT = 1 - 1e-5, 1 - 1e-4
FOREIGN = (
    "Seven violet lanterns drifted over the frozen harbor while a clockmaker sorted brass keys. "
)
FOREIGN_SHARE = 8  # a text is made longer by an eighth to see whether its end is read
MOST_FAILURES = 10
"""Texts that fail alone before an embedder is given up."""

Then = Callable[[EmbeddedTexts], Awaitable[None]]
Call = Callable[[Sequence[str], Then], Awaitable[None]]
"""Embeds some texts in one call, and awaits the function that takes their vectors."""
Verdict = Literal["read", "cut", "unproven"]


@dataclass(slots=True)
class TextFit:
    """What an endpoint takes in a call and reads of a text, as far as it has shown that.

    ``window`` are the tokens of the longest text that is embedded as one, None without a limit.
    ``proven`` are those of the longest one that is known to be read as a whole. All are estimates.
    ``refuses``: a longer text is known to end in an error. ``unprovable``: nothing shows whether
    the end of a text is read. ``asked``: the server was asked for its limit.
    ``divides``: a text was longer than the window. ``joined`` says what becomes of its pieces.
    ``learning`` is held by the calls that the first of others wait for.
    """

    window: int | None = None
    proven: int = SURELY_READ
    refuses: bool = False
    unprovable: bool = False
    asked: bool = False
    divides: bool = False
    joined: str = "whose vectors are averaged"
    sizes: CallSizes = field(default_factory=CallSizes)
    lessons: Lessons = field(default_factory=Lessons)
    learning: asyncio.Lock = field(default_factory=asyncio.Lock)
    _said: str = ""

    def limit(self, tokens: int) -> None:
        """Take in the limit of a text that its server names, in the server's tokens."""
        self.narrow(max(int(tokens * FILLED), SURELY_READ))

    def narrow(self, tokens: int) -> None:
        """Embed longer texts in pieces from now on."""
        self.window = tokens if self.window is None else min(self.window, tokens)

    def tell_unproven(self) -> None:
        """Note that nothing proves that texts are read as a whole."""
        self.lessons.add(
            "counts no tokens, and its vectors do not show that it reads long texts to their end"
        )

    def take_lessons(self, where: str, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return in sentences what a run was not told yet; ``where`` names the endpoint."""
        if self.divides:
            said = f"gets texts of more than about {self.window:,} tokens in pieces, {self.joined}"
            self.lessons.add(said, instead_of=self._said)
            self._said = said
        return self.lessons.take(where, told)


@dataclass(frozen=True, slots=True)
class TextVector:
    """The unit vector ``(d,)`` of a text by its place; zeros for a blank one.

    ``proven``: all of the text is known to be in it.
    """

    place: int
    vector: NDArray[np.float32]
    proven: bool = True


@dataclass(slots=True)
class _Text:
    """A text on its way to a vector; ``waiting`` counts the pieces that have none yet."""

    waiting: int
    vectors: list[NDArray[np.float32]] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    proven: bool = True
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    place: int
    weight: int
    tokens: int


@dataclass(slots=True)
class FittedEmbedding:
    """Embeds some texts. Vectors go to ``take`` before the next call of the same worker.

    ``fit`` is what the endpoint is known to take. ``refuse`` is told of texts that fail alone, by
    their place. ``ended`` says that no call is to be made any more. ``alone``: the first call is
    made before others are, also where its size is known.
    """

    embedder: Embedder
    fit: TextFit
    call: Call
    take: Callable[[Sequence[TextVector]], Awaitable[None]]
    refuse: Callable[[int, ModelError], None]
    most_texts: int
    most_tokens: int
    workers: int = 1
    alone: bool = False
    ended: Callable[[], bool] = lambda: False
    _whole: dict[int, _Piece] = field(default_factory=dict)
    _texts: dict[int, _Text] = field(default_factory=dict)
    _queue: deque[_Piece] = field(default_factory=deque)
    _halves: deque[list[_Piece]] = field(default_factory=deque)
    _accepted: bool = False
    _error: PGSError | None = None

    async def embed(self, texts: Sequence[str]) -> None:
        """Embed texts, each of which gets a vector or fails.

        Blank texts are not sent. A call that fails for any other reason than its texts ends it,
        after the calls in flight. Raises the error of that call.
        """
        blank = [place for place, text in enumerate(texts) if not text.strip()]
        if blank:
            width = np.zeros(0, np.float32)
            await self.take([TextVector(place, width) for place in blank])
        for place, text in enumerate(texts):
            if text.strip():
                self._whole[place] = _piece(text, place)
                self._texts[place] = _Text(1)
                self._queue.append(self._whole[place])
        async with self.fit.learning:
            self._divide_waiting()
            await self._prove_longest()
            known = self.fit.sizes.texts > 0 and not self.alone
            while self._may_call and not (self._accepted or known) and await self._step():
                pass
        await asyncio.gather(*(self._work() for _ in range(self.workers)))
        if self._error is not None:
            raise self._error

    @property
    def _may_call(self) -> bool:
        return self._error is None and not self.ended()

    @property
    def _may_cut(self) -> bool:
        if self.fit.refuses or not isinstance(self.embedder, Fitted):
            return False
        return self.embedder.may_cut

    async def _work(self) -> None:
        while self._may_call and await self._step():
            pass

    async def _step(self) -> bool:
        """Make the next call; return whether there was one to make."""
        batch = self._halves.popleft() if self._halves else self._next_batch()
        batch = [piece for piece in batch if not self._texts[piece.place].failed]
        if not batch:
            return bool(self._queue or self._halves)
        sizes = self.fit.sizes
        trying = self._is_larger(batch)
        sizes.trying = sizes.trying or trying
        try:
            await self._attempt(batch)
        except PGSError as error:
            # Calls in flight are paid, so they may end.
            self._error = self._error or error
        finally:
            if trying:
                sizes.trying = False
        return True

    def _next_batch(self) -> list[_Piece]:
        """Take the pieces of the next call; one call at a time is larger than any before."""
        batch: list[_Piece] = []
        tokens, sizes = 0, self.fit.sizes
        while self._queue and len(batch) < self.most_texts:
            total = tokens + self._queue[0].tokens
            if batch and total > self.most_tokens:
                break
            if not sizes.fits(len(batch) + 1, total, surely=sizes.trying) and batch:
                break
            batch.append(self._queue.popleft())
            tokens = total
        return batch

    def _is_larger(self, batch: Sequence[_Piece]) -> bool:
        """Return whether a call is larger than what is known to be accepted."""
        tokens = sum(piece.tokens for piece in batch)
        return not self.fit.sizes.fits(len(batch), tokens, surely=True)

    async def _attempt(self, batch: list[_Piece]) -> None:
        try:
            await self.call([piece.text for piece in batch], partial(self._accept, batch))
        except PromptCutError as error:
            self._narrow_cut(batch, error)
        except PromptTooLongError as error:
            self._divide_refused(batch, error)
        except (EmbeddingError, ModelOutputError) as error:
            self._halve(batch, error)

    async def _accept(self, batch: Sequence[_Piece], embedded: EmbeddedTexts) -> None:
        """Take the vectors of a call, and pass on those of the texts that are complete."""
        if len(embedded.vectors) != len(batch):
            raise EmbeddingError(
                f"the embedder {self.embedder.name} made {len(embedded.vectors)} vectors of "
                f"{counted(len(batch), 'text')}; use another embedding_model"
            )
        self._accepted = True
        self.fit.sizes.accept(len(batch), sum(piece.tokens for piece in batch))
        lexical = isinstance(self.embedder, Lexical) and self.embedder.lexical
        done: list[TextVector] = []
        for piece, row in zip(batch, embedded.vectors, strict=True):
            text = self._texts[piece.place]
            if not is_vector(row) and not (lexical and not row.any()):
                self._fail(piece, EmbeddingError(self._no_vector()))
                continue
            text.vectors.append(row)
            text.weights.append(piece.weight)
            text.proven = text.proven and self._is_proven(piece)
            text.waiting -= 1
            if text.waiting == 0 and not text.failed:
                vector = join_pieces(text.vectors, text.weights)
                done.append(TextVector(piece.place, vector, text.proven))
                del self._texts[piece.place]
        if done:
            await self.take(done)

    def _no_vector(self) -> str:
        return (
            f"the embedder {self.embedder.name} made no vector of a text, or one of zeros or of "
            "numbers that are not finite; use another embedding_model"
        )

    def _is_proven(self, piece: _Piece) -> bool:
        return piece.weight <= self.fit.proven or not self._may_cut

    def _halve(self, batch: list[_Piece], error: ModelError) -> None:
        """Ask for the halves of a call, some of whose texts its endpoint fails on."""
        if len(batch) == 1:
            return self._fail(batch[0], error)
        middle = len(batch) // 2
        self._halves.extendleft((batch[middle:], batch[:middle]))
        return None

    def _fail(self, piece: _Piece, error: ModelError) -> None:
        text = self._texts[piece.place]
        if not text.failed:
            text.failed = True
            self.refuse(piece.place, error)

    def _divide_refused(self, batch: list[_Piece], error: PromptTooLongError) -> None:
        """Ask in smaller calls, or for a single text in pieces."""
        if len(batch) > 1:
            tokens = sum(piece.tokens for piece in batch)
            if not self.fit.sizes.refuse([piece.text for piece in batch], tokens):
                return self._halve(batch, error)
            self._queue.extendleft(reversed(batch))
            return None
        (piece,) = batch
        self.fit.sizes.excuse(piece.text)
        self.fit.refuses = True
        if len(piece.text) < 2 * LEAST_CHARACTERS:
            return self._fail(piece, error)
        share = 0.5
        if error.context and error.prompt and error.context < error.prompt:
            share = CUT_SHORT * error.context / error.prompt
        least = piece.weight * LEAST_CHARACTERS // len(piece.text) + 1
        self._queue.appendleft(piece)
        self._narrow(max(min(int(piece.weight * share), piece.weight // 2), least))
        return None

    def _narrow_cut(self, batch: list[_Piece], error: PromptCutError) -> None:
        """Ask for the longest text of a call in pieces, since at least one of them was cut."""
        longest = max(piece.weight for piece in batch)
        if longest <= SURELY_READ:
            return self._halve(batch, error)
        self.fit.proven = SURELY_READ
        self._queue.extendleft(reversed(batch))
        self._narrow(max(longest // 2, SURELY_READ))
        return None

    def _narrow(self, window: int) -> None:
        self.fit.narrow(window)
        self._divide_waiting()

    def _divide_waiting(self) -> None:
        """Divide the texts that wait by the window.

        A text of which nothing was sent is divided as a whole again, so that its pieces do not
        depend on the windows that were too large before.
        """
        counts = Counter(piece.place for piece in self._queue)
        again = {
            place
            for place, count in counts.items()
            if count == self._texts[place].waiting and not self._texts[place].vectors
        }
        waiting, self._queue = self._queue, deque()
        for piece in waiting:
            if piece.place not in counts:
                continue  # divided as a whole already
            if piece.place in again:
                del counts[piece.place]
                self._texts[piece.place].waiting = 1
                piece = self._whole[piece.place]  # noqa: PLW2901
            self._queue.extend(self._divided(piece))

    def _divided(self, piece: _Piece) -> list[_Piece]:
        """Return pieces that are no longer than the window."""
        window = self.fit.window
        if window is None or piece.weight <= window:
            return [piece]
        self.fit.divides = True
        parts = [_piece(text, piece.place) for text in divide_text(piece.text, window)]
        self._texts[piece.place].waiting += len(parts) - 1
        return parts

    async def _prove_longest(self) -> None:
        """Find the longest text that is read as a whole, and divide those that are longer.

        The limit of a server is one of tokens in a text, so no text is cut that is shorter than
        one that is not.
        """
        failed: set[str] = set()
        while self._may_cut and not self.fit.unprovable and self._may_call:
            candidates = (piece for piece in self._queue if piece.text not in failed)
            longest = max(candidates, key=lambda piece: piece.weight, default=None)
            if longest is None or longest.weight <= self.fit.proven:
                return
            if not self.fit.asked and isinstance(self.embedder, Fitted):
                self.fit.asked = True
                await self.embedder.ask_limit()
                self._divide_waiting()
                continue
            try:
                proof = await prove_read(self.call, longest.text)
            except PromptTooLongError:
                self.fit.refuses = True  # where the text is embedded, it is divided
                return
            except (EmbeddingError, ModelOutputError):
                failed.add(longest.text)  # it fails again where it is embedded
                if len(failed) == MOST_FAILURES:
                    return
                continue
            match proof.verdict:
                case "read":
                    self.fit.proven = longest.weight
                case "cut":
                    self.fit.narrow(max(int(longest.weight * proof.share), SURELY_READ))
                    self._divide_waiting()
                case "unproven":
                    self.fit.unprovable = True
                    self.fit.tell_unproven()


@dataclass(frozen=True, slots=True)
class ReadingProof:
    """Whether a text was read as a whole, and if it was not, the share that surely is."""

    verdict: Verdict
    share: float = 1.0


HALF = 0.5 * CUT_SHORT


async def prove_read(call: Call, text: str) -> ReadingProof:
    """Return whether an embedder reads all of a text, at the cost of two calls.

    By the tokens that its endpoint counts: the halves of a text have as many as the whole, unless
    the whole was cut. Where none are counted, by vectors: if the same text with something else at
    its end, or at its beginning, has the same vector, that end is not read. Raises
    PromptTooLongError where the text is refused alone, and the other errors of ``call``.
    """
    try:
        whole = await _one(call, [text])
        if (count := _counted(whole)) >= LEAST_COUNT:
            middle = text.find(" ", len(text) // 2) + 1 or len(text) // 2
            halves = sum(map(_counted, await _some(call, [text[:middle], text[middle:]])))
            if halves - count <= max(FRAME_TOKENS, MISCOUNT * halves):
                return ReadingProof("read")
            # Where both halves were cut, their count does not tell how much there is.
            known = halves < 1.9 * count
            return ReadingProof("cut", CUT_SHORT * count / halves if known else HALF)
    except PromptCutError:
        return ReadingProof("cut", HALF)
    foreign = FOREIGN * (len(text) // FOREIGN_SHARE // len(FOREIGN) + 1)
    try:
        longer = await _some(call, [f"{text} {foreign}", foreign + text])
    except PromptTooLongError as error:
        if isinstance(error, PromptCutError):
            return ReadingProof("cut", HALF)
        raise
    rows = np.concatenate([one.vectors for one in longer])
    if len(rows) != 2 or not all(map(is_vector, (*rows, whole.vectors[0]))):
        return ReadingProof("unproven")
    nearest = float(np.max(rows.astype(np.float64) @ whole.vectors[0]))
    if nearest >= SAME:
        return ReadingProof("cut", HALF)
    return ReadingProof("read" if nearest < DIFFERENT else "unproven")


async def _one(call: Call, texts: Sequence[str]) -> EmbeddedTexts:
    taken: list[EmbeddedTexts] = []

    async def take(embedded: EmbeddedTexts) -> None:
        taken.append(embedded)

    await call(texts, take)
    return taken[0]


async def _some(call: Call, texts: Sequence[str]) -> list[EmbeddedTexts]:
    """Embed texts in one call, or each in its own if that is too large."""
    try:
        return [await _one(call, texts)]
    except PromptCutError:
        raise
    except PromptTooLongError:
        return [await _one(call, [text]) for text in texts]


def _counted(embedded: EmbeddedTexts) -> int:
    return 0 if embedded.usage.estimated else embedded.usage.input_tokens


def is_vector(row: NDArray[np.float32]) -> bool:
    """Return whether a row ``(d,)`` stands for something: finite numbers, and not all zero."""
    return bool(np.isfinite(row).all() and row.any())


def _piece(text: str, place: int) -> _Piece:
    return _Piece(text, place, weigh(text), estimate(text))
