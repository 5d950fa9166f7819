"""Embeds texts in calls that their endpoint takes, and no text that was not read as a whole.

Endpoints differ in the texts and tokens of a call, and in what they do with a text that is longer
than their model reads: some refuse it, and many embed its beginning and say nothing. So the longest
text is checked before any vector counts. A text that is too long is embedded in pieces.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

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
from pgs_neo4j.llm.embedders.pieces import (
    LEAST_CHARACTERS,
    SURELY_READ,
    CallSizes,
    Piece,
    PieceQueue,
    Script,
    divide_text,
    join_pieces,
    name_script,
    weigh,
)
from pgs_neo4j.llm.embedders.reading import (
    CUT_SHORT,
    Call,
    ReadingProof,
    Verdict,
    is_vector,
    prove_read,
)
from pgs_neo4j.llm.lessons import Lessons, ToldLessons
from pgs_neo4j.llm.own_models import advise_other
from pgs_neo4j.llm.protocol import EmbeddedTexts, Embedder, Fitted, Lexical
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import estimate, measure

FILLED = 0.8  # of a limit in a server's tokens, of which dense text has more than the estimate
LONGER = 1.25  # times what is proven, before the tokens of another text are counted by themselves
MOST_FAILURES = 10
"""Texts that fail alone before an embedder is given up."""

# OpenAI's documented limits: 2,048 inputs a request, and 300,000 tokens summed over them. Estimates
# may be off, so we stay well below. Fewer inputs bound the reply.
BATCH_INPUTS = 512
BATCH_TOKENS = 100_000
CONCURRENT_BATCHES = 4
MOST_FAILED_TEXTS = 3  # texts that fail alone before an endpoint is given up


@dataclass(slots=True)
class TextFit:
    """What an endpoint takes in a call and reads of a text, as far as it has shown that.

    ``most`` are the tokens of the longest text that may be read as a whole, None without a limit.
    ``surely`` are those that any model reads. All are estimates. ``refuses``: its
    server says that a longer text ends in an error. ``belied``: it counted too few tokens for that.
    ``miscounts``: what it counts are not the tokens of texts. ``unprovable``: nothing shows whether
    the end of a text is read. ``asked``: the server was asked for its limit.
    ``divides``: a text was longer than the window. ``joined`` says what becomes of its pieces.
    ``learning`` is held by the calls that the first of others wait for, ``proving`` while the
    counts of one call are looked into.
    """

    most: int | None = None
    surely: int = SURELY_READ
    refuses: bool = False
    belied: bool = False
    miscounts: bool = False
    unprovable: bool = False
    asked: bool = False
    divides: bool = False
    joined: str = "whose vectors are averaged"
    sizes: CallSizes = field(default_factory=CallSizes)
    lessons: Lessons = field(default_factory=Lessons)
    learning: asyncio.Lock = field(default_factory=asyncio.Lock)
    proving: asyncio.Lock = field(default_factory=asyncio.Lock)
    _proven: dict[Script, int] = field(default_factory=dict)
    _assumed: dict[object, int] = field(default_factory=dict)
    _said: str = ""

    @property
    def window(self) -> int | None:
        """The tokens of the longest text that is sent as one, None without a limit."""
        known = [] if self.most is None else [self.most]
        return min([*known, *self._assumed.values()], default=None)

    def limit(self, tokens: int) -> None:
        """Take in the limit of a text that its server names, in the server's tokens."""
        self.narrow(max(int(tokens * FILLED), 1))

    def narrow(self, tokens: int) -> None:
        """Send longer texts in pieces from now on."""
        self.most = tokens if self.most is None else min(self.most, tokens)

    def read_of(self, text: str) -> int:
        """Return the tokens of the longest text of its script that is known to be read."""
        return self._proven.get(name_script(text), self.surely)

    def prove(self, text: str, tokens: int) -> None:
        """Take in that a text was read as a whole, and so are shorter ones of its script."""
        self._proven[name_script(text)] = max(tokens, self.read_of(text))

    def doubt(self) -> None:
        """Forget which texts are known to be read."""
        self._proven.clear()

    def assume(self, why: object, tokens: int) -> None:
        """Send longer texts in pieces until it is known whether the length of a text matters.

        ``why`` stands for that text in ``confirm`` and ``withdraw``.
        """
        self._assumed[why] = min(tokens, self._assumed.get(why, tokens))

    def confirm(self, why: object) -> None:
        """Keep what was assumed of a text, whose pieces were all accepted."""
        if why in self._assumed:
            self.narrow(self._assumed.pop(why))
            self.divides = True

    def withdraw(self, why: object) -> None:
        """Forget what was assumed of a text, which is refused whatever its length."""
        self._assumed.pop(why, None)

    def missing(self, texts: Sequence[str], counted: int | None) -> int:
        """Return the least tokens of texts where fewer were counted, which shows a cut; else 0.

        What is known to count something else shows nothing, and neither does a 0, or a 1 a text.
        """
        if self.miscounts or counted is None or counted <= len(texts):
            return 0
        least = measure("\n".join(texts)).floor
        return int(least) if counted < least else 0

    def tell_unproven(self) -> None:
        """Note that nothing proves that texts are read as a whole."""
        self.lessons.add(
            "counts no tokens that show it, and its vectors do not show that it reads long texts "
            "to their end"
        )

    def take_lessons(self, where: str, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return in sentences what a run was not told yet; ``where`` names the endpoint."""
        if self.divides and self.window is not None:
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


@dataclass(slots=True, eq=False)
class _Text:
    """A text on its way to a vector; ``waiting`` counts the pieces that have none yet.

    ``window`` are the tokens of its longest piece, if it was refused; None otherwise.
    """

    waiting: int
    window: int | None = None
    vectors: list[NDArray[np.float32]] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    proven: bool = True
    failed: bool = False


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
    _queue: PieceQueue = field(init=False)
    _whole: dict[int, Piece] = field(default_factory=dict)
    _texts: dict[int, _Text] = field(default_factory=dict)
    _alone: Piece | None = None
    _accepted: bool = False
    _error: PGSError | None = None

    def __post_init__(self) -> None:
        self._queue = PieceQueue(self.fit.sizes, self.most_texts, self.most_tokens)

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
                self._queue.waiting.append(self._whole[place])
        try:
            async with self.fit.learning:
                self._divide_waiting()
                async with self.fit.proving:
                    await self._prove_waiting()
                self._send_longest_alone()
                known = self.fit.sizes.texts > 0 and not self.alone
                while self._may_call and not (self._accepted or known) and await self._step():
                    pass
            await asyncio.gather(*(self._work() for _ in range(self.workers)))
        finally:
            for waiting in self._texts.values():
                self.fit.withdraw(waiting)
        if self._error is not None:
            raise self._error

    @property
    def _may_call(self) -> bool:
        return self._error is None and not self.ended()

    @property
    def _may_cut(self) -> bool:
        if not isinstance(self.embedder, Fitted):
            return False
        return self.fit.belied or (not self.fit.refuses and self.embedder.may_cut)

    async def _work(self) -> None:
        while self._may_call and await self._step():
            pass

    async def _step(self) -> bool:
        """Make the next call; return whether there was one to make."""
        if self.fit.proving.locked():
            async with self.fit.proving:
                pass  # what is found out may divide the pieces that wait
        batch = self._queue.next_call()
        batch = [piece for piece in batch if not self._texts[piece.place].failed]
        if not batch:
            return not self._queue.is_empty
        sizes = self.fit.sizes
        trying = self._queue.is_larger(batch)
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

    async def _attempt(self, batch: list[Piece]) -> None:
        try:
            await self.call([piece.text for piece in batch], partial(self._accept, batch))
        except PromptCutError:
            await self._look_into(batch)
        except PromptTooLongError as error:
            if len(batch) > 1:
                self._queue.make_smaller(batch)
            else:
                self._queue.put_back(batch)
                self._divide_refused(batch[0], error)
        except (EmbeddingError, ModelOutputError) as error:
            if len(batch) > 1:  # the endpoint fails on some of them
                self._queue.halve(batch)
            else:
                self._fail(batch[0], error)

    async def _accept(self, batch: Sequence[Piece], embedded: EmbeddedTexts) -> None:
        """Take the vectors of a call, and pass on those of the texts that are complete."""
        if len(embedded.vectors) != len(batch):
            raise EmbeddingError(
                f"the embedder {self.embedder.name} made {len(embedded.vectors)} vectors of "
                f"{counted(len(batch), 'text')}; {self._advice()}"
            )
        if batch == [self._alone]:
            self.fit.prove(batch[0].text, batch[0].weight)
        else:
            self._accepted = True
            self._queue.accept(batch)
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
            self._share_window(text)
            if text.waiting == 0 and not text.failed:
                vector = join_pieces(text.vectors, text.weights)
                done.append(TextVector(piece.place, vector, text.proven))
                self.fit.confirm(text)
                del self._texts[piece.place]
        if done:
            await self.take(done)

    def _no_vector(self) -> str:
        return (
            f"the embedder {self.embedder.name} made no vector of a text, or one of zeros or of "
            f"numbers that are not finite; {self._advice()}"
        )

    def _advice(self) -> str:
        own = "let its embed return a unit vector for each text"
        return advise_other(self.embedder, "use another embedding_model", own)

    def _is_proven(self, piece: Piece) -> bool:
        return not self._may_cut or piece.weight <= self.fit.read_of(piece.text)

    def _fail(self, piece: Piece, error: ModelError) -> None:
        text = self._texts[piece.place]
        if not text.failed:
            text.failed = True
            self.refuse(piece.place, error)
        self.fit.withdraw(text)

    def _divide_refused(self, piece: Piece, error: PromptTooLongError) -> bool:
        """Ask for the pieces of a text that waits; return False for one that is too short."""
        self.fit.sizes.excuse(piece.text)
        if len(piece.text) < 2 * LEAST_CHARACTERS:
            # Its length is not why it is refused, so others need not be divided for it.
            self._fail(piece, error)
            self._divide_waiting()
            return False
        share = 0.5
        if error.context and error.prompt and error.context < error.prompt:
            share = CUT_SHORT * error.context / error.prompt
        least = piece.weight * LEAST_CHARACTERS // len(piece.text) + 1
        self._divide_one(piece, max(min(int(piece.weight * share), piece.weight // 2), least))
        return True

    def _divide_one(self, piece: Piece, window: int) -> None:
        text = self._texts[piece.place]
        text.window = min(window, text.window or window)
        self._queue.join_halves()
        self._divide_waiting()
        self._queue.send_first([one for one in self._queue.waiting if one.place == piece.place])

    def _share_window(self, text: _Text) -> None:
        """Divide other texts as one that was refused, since a piece of it was accepted."""
        if text.window is None or text.failed:
            return
        before = self.fit.window
        self.fit.assume(text, text.window)
        if self.fit.window != before:
            self._divide_waiting()

    async def _look_into(self, batch: list[Piece]) -> None:
        """Find out whether a text of a call was cut, for which too few tokens were counted.

        An endpoint may count anything, so the vectors of the longest text decide. The whole call is
        made again, in pieces if it was cut.
        """
        longest = max(batch, key=lambda piece: piece.weight)
        async with self.fit.proving:
            self._queue.put_back(batch)
            window = self.fit.window
            settled = self.fit.miscounts or (window is not None and longest.weight > window)
            if not settled and longest.weight <= SURELY_READ:
                self.fit.miscounts = True  # no model cuts so short a text
            elif not settled:
                await self._prove_doubted(longest)
            self._queue.join_halves()
            self._divide_waiting()
            await self._prove_waiting()

    async def _prove_doubted(self, piece: Piece) -> bool:
        """Settle by its vectors whether a text is read; return whether it does not fail."""
        fit = self.fit
        # Counts that are looked into are no reason to refuse a reply.
        fit.belied, fit.miscounts, fit.unprovable = True, True, False
        fit.doubt()
        verdict: Verdict = "cut"
        try:
            verdict = self._take_proof(piece, await prove_read(self.call, piece.text))
        except PromptTooLongError as error:
            return self._divide_refused(piece, error)
        except (EmbeddingError, ModelOutputError) as error:
            self._fail(piece, error)
            return False
        finally:
            fit.miscounts = verdict in ("read", "unproven")
        return True

    def _take_proof(self, piece: Piece, proof: ReadingProof) -> Verdict:
        match proof.verdict:
            case "read":
                self.fit.prove(piece.text, piece.weight)
            case "cut":
                self.fit.narrow(max(int(piece.weight * proof.share), SURELY_READ))
                self._queue.join_halves()
            case "refused":
                self._divide_one(piece, int(piece.weight * proof.share))
            case "unproven":
                self.fit.unprovable = True
                self.fit.tell_unproven()
        self._share_window(self._texts[piece.place])
        self._divide_waiting()
        return proof.verdict

    def _divide_waiting(self) -> None:
        """Divide the texts that wait by the window.

        A text of which nothing was sent is divided as a whole again, so that its pieces do not
        depend on the windows that were too large, or too small, before.
        """
        waiting = self._queue.take_waiting()
        counts = Counter(piece.place for piece in waiting)
        again = {
            place
            for place, count in counts.items()
            if count == self._texts[place].waiting and not self._texts[place].vectors
        }
        for piece in waiting:
            if piece.place not in counts:
                continue  # divided as a whole already
            if piece.place in again:
                del counts[piece.place]
                self._texts[piece.place].waiting = 1
                piece = self._whole[piece.place]  # noqa: PLW2901
            self._queue.waiting.extend(self._divided(piece))

    def _divided(self, piece: Piece) -> list[Piece]:
        """Return pieces that are no longer than the window."""
        shared = self.fit.window
        windows = (shared, self._texts[piece.place].window)
        window = min((one for one in windows if one is not None), default=None)
        if window is None or piece.weight <= window:
            return [piece]
        self.fit.divides = self.fit.divides or (shared is not None and piece.weight > shared)
        parts = [_piece(text, piece.place) for text in divide_text(piece.text, window)]
        self._texts[piece.place].waiting += len(parts) - 1
        return parts

    async def _prove_waiting(self) -> None:
        """Find the longest text that is read as a whole, and divide those that are longer.

        The limit of a server is one of tokens in a text, so no text is cut that is shorter than
        one of its script that is not. ``proving`` is held.
        """
        failed: set[str] = set()
        refused: Piece | None = None
        while self._may_cut and not self.fit.unprovable and self._may_call:
            # The pieces of a text that was refused show whether its length is the reason.
            longest = self._longest(failed, refused, unproven=refused is None)
            if longest is None:
                return
            if not self.fit.asked and isinstance(self.embedder, Fitted):
                self.fit.asked = True
                await self.embedder.ask_limit()
                self._divide_waiting()
                continue
            refused = None
            try:
                self._take_proof(longest, await prove_read(self.call, longest.text))
            except PromptCutError:
                if not await self._prove_doubted(longest):
                    failed.add(longest.text)
            except PromptTooLongError as error:
                if self._divide_refused(longest, error):
                    refused = longest
            except (EmbeddingError, ModelOutputError):
                failed.add(longest.text)  # it fails again where it is embedded
            if len(failed) == MOST_FAILURES:
                return

    def _send_longest_alone(self) -> None:
        """Let the tokens of the longest text be counted by themselves, where they alone count.

        Among many shorter texts, the tokens that one has lost would not be missed.
        """
        longest = None if self._may_cut else self._longest()
        if longest is None or longest.weight <= LONGER * self.fit.read_of(longest.text):
            return
        if any(LONGER * piece.weight < longest.weight for piece in self._queue):
            self._alone = longest
            self._queue.send_first([longest])

    def _longest(
        self, without: Collection[str] = (), of: Piece | None = None, *, unproven: bool = False
    ) -> Piece | None:
        """Return the longest piece that waits; ``of`` a text, or of all.

        ``unproven``: it is longer than what is known to be read.
        """
        candidates = (
            piece
            for piece in self._queue
            if piece.text not in without
            and not self._texts[piece.place].failed
            and (of is None or piece.place == of.place)
            and (not unproven or piece.weight > self.fit.read_of(piece.text))
        )
        return max(candidates, key=lambda piece: piece.weight, default=None)


def _piece(text: str, place: int) -> Piece:
    return Piece(text, place, weigh(text), estimate(text))


async def embed_rows(
    embedder: Embedder,
    fit: TextFit,
    call: Call,
    texts: Sequence[str],
    *,
    most_failures: int = MOST_FAILED_TEXTS,
) -> NDArray[np.float32]:
    """Return unit rows ``(n, d)`` in the order of ``texts``, zero for blank ones.

    Blank texts are not sent. A row is also zero for a text that the model has no vector of, which
    ``fit`` notes. Raises the first error of a text when there are ``most_failures``, or no vectors,
    and what ``call`` raises.
    """
    found: dict[int, NDArray[np.float32]] = {}
    failures: list[ModelError] = []

    async def take(vectors: Sequence[TextVector]) -> None:
        found.update((one.place, one.vector) for one in vectors if one.vector.any())

    embedding = FittedEmbedding(
        embedder=embedder,
        fit=fit,
        call=call,
        take=take,
        refuse=lambda _, error: failures.append(error),
        most_texts=BATCH_INPUTS,
        most_tokens=BATCH_TOKENS,
        workers=CONCURRENT_BATCHES,
        ended=lambda: len(failures) >= most_failures,
    )
    await embedding.embed(texts)
    if failures and (not found or len(failures) >= most_failures):
        raise failures[0]
    if failures:
        fit.lessons.add(f"made no vector of {counted(len(failures), 'text')}")
    width = max(map(len, found.values()), default=embedder.dimensions or 0)
    rows = np.zeros((len(texts), width), dtype=np.float32)
    for place, vector in found.items():
        rows[place] = vector
    return rows
