"""Embeds texts in calls that fit their endpoint, and makes sure that it reads each text whole.

Endpoints differ in how many texts and tokens they accept in a call. They also differ in what they
do with a text that is too long for their model: some refuse it, and many silently embed only its
beginning. So the longest text is checked before any vector counts. A text that is too long is
embedded in pieces.
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

FILLED = 0.8  # share of a server's limit; dense text has more tokens than the estimate
LONGER = 1.25  # times the proven length; a text beyond that is sent alone to count its tokens
MOST_FAILURES = 10
"""The test of an embedder ends after this many texts have failed alone."""

# OpenAI's documented limits for a request are 2,048 inputs, and 300,000 tokens in all inputs.
# Estimates may be off, so these limits are well below. Fewer inputs also limit the size of the
# reply.
BATCH_INPUTS = 512
BATCH_TOKENS = 100_000
CONCURRENT_BATCHES = 4
MOST_FAILED_TEXTS = 3  # after this many texts have failed alone, no more calls are made


@dataclass(slots=True)
class TextFit:
    """The limits of an endpoint for calls and for single texts, as far as it has shown them.

    Sizes are estimates in tokens. ``most`` is the size of the longest text that may be read as a
    whole, None without a limit. ``surely`` is the size that any model reads. The flags say that:

    - ``refuses``: the server claims to refuse a longer text with an error;
    - ``belied``: its counts of tokens contradict that claim;
    - ``miscounts``: its counts are not the tokens of the texts;
    - ``unprovable``: nothing shows whether it reads the end of a text;
    - ``asked``: it was asked for its limit;
    - ``divides``: a text was longer than the window.

    ``joined`` says in words how the vectors of pieces are joined. The lock ``learning`` is held
    during the first calls, for which all others wait, and ``proving`` during the check of one call.
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
        """The tokens of the longest text that is sent undivided, None without a limit."""
        known = [] if self.most is None else [self.most]
        return min([*known, *self._assumed.values()], default=None)

    def limit(self, tokens: int) -> None:
        """Store the limit for a text that its server reports, in the server's tokens."""
        self.narrow(max(int(tokens * FILLED), 1))

    def narrow(self, tokens: int) -> None:
        """Send longer texts in pieces from now on."""
        self.most = tokens if self.most is None else min(self.most, tokens)

    def read_of(self, text: str) -> int:
        """Return the proven length for the script of ``text``, in tokens.

        Texts of this script are known to be read as a whole up to that length.
        """
        return self._proven.get(name_script(text), self.surely)

    def prove(self, text: str, tokens: int) -> None:
        """Note that a text was read as a whole, which proves the same for shorter texts."""
        self._proven[name_script(text)] = max(tokens, self.read_of(text))

    def doubt(self) -> None:
        """Forget all proven lengths."""
        self._proven.clear()

    def assume(self, why: object, tokens: int) -> None:
        """Send longer texts in pieces for now, because a text was refused.

        Its length may not be the reason. ``why`` identifies that text for ``confirm`` and
        ``withdraw``.
        """
        self._assumed[why] = min(tokens, self._assumed.get(why, tokens))

    def confirm(self, why: object) -> None:
        """Keep the limit that was assumed for a refused text, because its pieces were accepted."""
        if why in self._assumed:
            self.narrow(self._assumed.pop(why))
            self.divides = True

    def withdraw(self, why: object) -> None:
        """Drop the limit that was assumed for a refused text, whose length was not the reason."""
        self._assumed.pop(why, None)

    def missing(self, texts: Sequence[str], counted: int | None) -> int:
        """Return the minimum number of tokens of texts if the endpoint counted fewer, else 0.

        A count that is too small shows a cut. An endpoint that miscounts shows nothing, and neither
        does a count of 0, or of 1 for each text.
        """
        if self.miscounts or counted is None or counted <= len(texts):
            return 0
        least = measure("\n".join(texts)).floor
        return int(least) if counted < least else 0

    def tell_unproven(self) -> None:
        """Add the lesson that nothing proves whether texts are read as a whole."""
        self.lessons.add(
            "does not show that it reads long texts to their end, neither by its count of tokens "
            "nor by its vectors"
        )

    def take_lessons(self, where: str, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return a sentence for each lesson that is new to a run; ``where`` names the endpoint."""
        if self.divides and self.window is not None:
            said = f"gets texts of more than about {self.window:,} tokens in pieces, {self.joined}"
            self.lessons.add(said, instead_of=self._said)
            self._said = said
        return self.lessons.take(where, told)


@dataclass(frozen=True, slots=True)
class TextVector:
    """The unit vector ``(d,)`` of the text at ``place``; zeros for a blank text.

    ``proven`` is true if the model is known to have read the whole text.
    """

    place: int
    vector: NDArray[np.float32]
    proven: bool = True


@dataclass(slots=True, eq=False)
class _Text:
    """The state of a text that is being embedded.

    ``waiting`` counts the pieces without a vector. ``window`` is the maximum number of tokens of a
    piece after the text was refused; None otherwise.
    """

    waiting: int
    window: int | None = None
    vectors: list[NDArray[np.float32]] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    proven: bool = True
    failed: bool = False


@dataclass(slots=True)
class FittedEmbedding:
    """Embeds some texts. ``take`` receives vectors before the next call of the same worker.

    ``fit`` has the known limits of the endpoint. ``refuse`` is called with the place and the error
    of each text that fails alone. No more calls are made once ``ended`` returns true. With
    ``alone``, the first call ends before others begin, even if the accepted size is known.
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

        Blank texts are not sent. If a call fails for a reason other than its texts, the calls in
        flight are completed, and the error of that call is raised.
        """
        blank = [place for place, text in enumerate(texts) if not text.strip()]
        if blank:
            width = np.zeros(0, np.float32)
            await self.take([TextVector(place, width) for place in blank])
        for place, text in enumerate(texts):
            if text.strip():
                self._whole[place] = _make_piece(text, place)
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
        """Whether the endpoint may silently cut a text that is too long."""
        if not isinstance(self.embedder, Fitted):
            return False
        return self.fit.belied or (not self.fit.refuses and self.embedder.may_cut)

    async def _work(self) -> None:
        while self._may_call and await self._step():
            pass

    async def _step(self) -> bool:
        """Make the next call; return False if nothing is left to send."""
        if self.fit.proving.locked():
            async with self.fit.proving:
                pass  # wait for the check, because it may divide pieces in the queue
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
            # Calls in flight are already paid, so they are completed before this error is raised.
            self._error = self._error or error
        finally:
            if trying:
                sizes.trying = False
        return True

    async def _attempt(self, batch: list[Piece]) -> None:
        """Embed a batch in one call. After a refusal, queue its pieces again in another form."""
        try:
            await self.call([piece.text for piece in batch], partial(self._accept, batch))
        except PromptCutError:
            await self._check_for_cut(batch)
        except PromptTooLongError as error:
            if len(batch) > 1:
                self._queue.make_smaller(batch)
            else:
                self._queue.put_back(batch)
                self._divide_refused(batch[0], error)
        except (EmbeddingError, ModelOutputError) as error:
            if len(batch) > 1:  # perhaps only some of the texts make it fail
                self._queue.halve(batch)
            else:
                self._fail(batch[0], error)

    async def _accept(self, batch: Sequence[Piece], embedded: EmbeddedTexts) -> None:
        """Take the vectors of a call, and pass on the vectors of complete texts."""
        if len(embedded.vectors) != len(batch):
            raise EmbeddingError(
                f"the embedder {self.embedder.name} made {len(embedded.vectors)} vectors of "
                f"{counted(len(batch), 'text')}; {self._advise_user()}"
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
                self._fail(piece, EmbeddingError(self._explain_missing_vector()))
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

    def _explain_missing_vector(self) -> str:
        return (
            f"the embedder {self.embedder.name} made no vector of a text, or a vector of zeros or "
            f"with numbers that are not finite; {self._advise_user()}"
        )

    def _advise_user(self) -> str:
        own = "make its embed return a unit vector for each text"
        return advise_other(self.embedder, "use another embedding_model", own)

    def _is_proven(self, piece: Piece) -> bool:
        return not self._may_cut or piece.weight <= self.fit.read_of(piece.text)

    def _fail(self, piece: Piece, error: ModelError) -> None:
        """Give up a text, and report its first error."""
        text = self._texts[piece.place]
        if not text.failed:
            text.failed = True
            self.refuse(piece.place, error)
        self.fit.withdraw(text)

    def _divide_refused(self, piece: Piece, error: PromptTooLongError) -> bool:
        """Divide a refused piece into smaller pieces; return False if it is too short for that."""
        self.fit.sizes.excuse(piece.text)
        if len(piece.text) < 2 * LEAST_CHARACTERS:
            # Its length is not the reason for the refusal, so other texts need no division.
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
        """Divide the text of a piece by a smaller window of its own, and send its pieces first."""
        text = self._texts[piece.place]
        text.window = min(window, text.window or window)
        self._queue.join_halves()
        self._divide_waiting()
        self._queue.send_first([one for one in self._queue.waiting if one.place == piece.place])

    def _share_window(self, text: _Text) -> None:
        """Divide other texts like a refused one after one of its pieces was accepted."""
        if text.window is None or text.failed:
            return
        before = self.fit.window
        self.fit.assume(text, text.window)
        if self.fit.window != before:
            self._divide_waiting()

    async def _check_for_cut(self, batch: list[Piece]) -> None:
        """Check whether a text was cut, after a call for which too few tokens were counted.

        An endpoint may count in any way, so the vectors of the longest text decide. Then the whole
        call is repeated, in pieces if its longest text was cut.
        """
        longest = max(batch, key=lambda piece: piece.weight)
        async with self.fit.proving:
            self._queue.put_back(batch)
            window = self.fit.window
            settled = self.fit.miscounts or (window is not None and longest.weight > window)
            if not settled and longest.weight <= SURELY_READ:
                self.fit.miscounts = True  # no model cuts such a short text
            elif not settled:
                await self._prove_doubtful_text(longest)
            self._queue.join_halves()
            self._divide_waiting()
            await self._prove_waiting()

    async def _prove_doubtful_text(self, piece: Piece) -> bool:
        """Find out from its vectors whether a text is read whole; return False if it fails."""
        fit = self.fit
        # While the counts are in doubt, ``miscounts`` keeps them from causing a PromptCutError.
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
        """Adjust the known limits to a proof, divide the waiting texts, and return the verdict."""
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
        """Divide the waiting texts into pieces that fit the window.

        If no piece of a text was embedded yet, the whole text is divided again, so that its pieces
        do not depend on earlier windows.
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
            self._queue.waiting.extend(self._divide_piece(piece))

    def _divide_piece(self, piece: Piece) -> list[Piece]:
        """Divide a piece into smaller pieces that fit the window."""
        shared = self.fit.window
        windows = (shared, self._texts[piece.place].window)
        window = min((one for one in windows if one is not None), default=None)
        if window is None or piece.weight <= window:
            return [piece]
        self.fit.divides = self.fit.divides or (shared is not None and piece.weight > shared)
        parts = [_make_piece(text, piece.place) for text in divide_text(piece.text, window)]
        self._texts[piece.place].waiting += len(parts) - 1
        return parts

    async def _prove_waiting(self) -> None:
        """Find the length up to which texts are read as a whole, and divide longer texts.

        A server limits the tokens of a text. So if it reads a text as a whole, it also reads all
        shorter texts of the same script. The caller holds ``proving``.
        """
        failed: set[str] = set()
        refused: Piece | None = None
        while self._may_cut and not self.fit.unprovable and self._may_call:
            # The pieces of a refused text show whether its length was the reason.
            longest = self._find_longest(failed, refused, unproven=refused is None)
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
                if not await self._prove_doubtful_text(longest):
                    failed.add(longest.text)
            except PromptTooLongError as error:
                if self._divide_refused(longest, error):
                    refused = longest
            except (EmbeddingError, ModelOutputError):
                failed.add(longest.text)  # the text's own call will fail again and report the error
            if len(failed) == MOST_FAILURES:
                return

    def _send_longest_alone(self) -> None:
        """If only token counts can reveal a cut, send the longest text alone.

        Among many shorter texts, its missing tokens would go unnoticed.
        """
        longest = None if self._may_cut else self._find_longest()
        if longest is None or longest.weight <= LONGER * self.fit.read_of(longest.text):
            return
        if any(LONGER * piece.weight < longest.weight for piece in self._queue):
            self._alone = longest
            self._queue.send_first([longest])

    def _find_longest(
        self, without: Collection[str] = (), of: Piece | None = None, *, unproven: bool = False
    ) -> Piece | None:
        """Return the longest waiting piece of all texts, or of the text ``of``.

        With ``unproven``, only pieces beyond the proven length count.
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


def _make_piece(text: str, place: int) -> Piece:
    return Piece(text, place, weigh(text), estimate(text))


async def embed_rows(
    embedder: Embedder,
    fit: TextFit,
    call: Call,
    texts: Sequence[str],
    *,
    most_failures: int = MOST_FAILED_TEXTS,
) -> NDArray[np.float32]:
    """Embed texts; return unit rows ``(n, d)`` in their order, zero for blank texts.

    Blank texts are not sent. If a text fails, its row is also zero, and ``fit`` gets a lesson.
    Raises the first error of a text if ``most_failures`` texts fail or no text has a vector. Also
    raises the errors of ``call``.
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
