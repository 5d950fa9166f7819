"""Proves by vectors how much of a text a model reads, or describes its server's limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import PromptCutError, PromptTooLongError
from pgs_neo4j.llm.protocol import EmbeddedTexts
from pgs_neo4j.text.tokens import LEAST_COUNT, measure

if TYPE_CHECKING:
    from pgs_neo4j.llm.embedders.fitting import TextFit

FRAME_TOKENS = 16  # tokens that a model adds to a text, such as marks of its beginning and end
CUT_SHORT = 0.9  # factor for the share that was read, so that pieces of this size are surely read
MISCOUNT = 0.04  # share of the halves' tokens by which their sum may differ from the whole text's
LEAST_GROWTH = 0.2  # share of the added tokens; if the count grows by less, both texts were cut
# Cosines between a text and the same text with more at its end. Repeating a call in half precision
# changes a cosine by about 1e-6, and an eighth more text changes it by more than 1e-3.
SAME, DIFFERENT = 1 - 1e-5, 1 - 1e-4
FOREIGN = (
    "Seven violet lanterns drifted over the frozen harbor while a clockmaker sorted brass keys. "
)
FOREIGN_SHARE = 8  # a text is made longer by an eighth to see whether its end is read
HALF = 0.5 * CUT_SHORT
BELOW_LONGER = CUT_SHORT * FOREIGN_SHARE / (FOREIGN_SHARE + 1)

Then = Callable[[EmbeddedTexts], Awaitable[None]]
Call = Callable[[Sequence[str], Then], Awaitable[None]]
"""A function that embeds texts in one call, and awaits another function with the vectors."""
Verdict = Literal["read", "cut", "refused", "unproven"]

UNKNOWN = "unknown; its server does not report it, so the longest text will show it"


@dataclass(frozen=True, slots=True)
class ReadingProof:
    """Whether a text was read as a whole and, if not, the share that is surely read."""

    verdict: Verdict
    share: float = 1.0


async def prove_read(call: Call, text: str) -> ReadingProof:
    """Find out whether an embedder reads a whole text, in a few calls; two if all goes well.

    The vectors decide: if the text has the same vector with other words at its end, or at its
    beginning, then that end is not read. Counts of tokens can only show a cut, never rule it out,
    because some servers count a text before they cut it. A longer text must have more tokens;
    otherwise, both texts were cut. The verdict ``refused`` means that the longer text was too long
    for the test. Raises PromptTooLongError if the text itself is refused, and the other errors of
    ``call``.
    """
    whole = await _embed_in_one_call(call, [text])
    foreign = FOREIGN * (len(text) // FOREIGN_SHARE // len(FOREIGN) + 1)
    try:
        longer = await _embed_in_few_calls(call, [f"{text} {foreign}", foreign + text])
    except PromptCutError:
        return ReadingProof("cut", HALF)
    except PromptTooLongError:
        return ReadingProof("refused", BELOW_LONGER)
    rows = np.concatenate([one.vectors for one in longer])
    if len(rows) != 2 or not all(map(is_vector, (*rows, whole.vectors[0]))):
        return ReadingProof("unproven")
    nearest = float(np.max(rows.astype(np.float64) @ whole.vectors[0]))
    count = _read_count(whole)
    growth = _measure_growth(count, sum(map(_read_count, longer)))
    added = measure(foreign).floor / measure(text).floor
    stands_still = growth is not None and growth < LEAST_GROWTH * added
    if nearest >= SAME or (stands_still and not await _counts_alike(call, count)):
        return ReadingProof("cut", await _find_share(call, text, count))
    return ReadingProof("read" if nearest < DIFFERENT else "unproven")


async def _find_share(call: Call, text: str, count: int) -> float:
    """Return the share that is surely read of a text that was cut to ``count`` tokens."""
    if count < LEAST_COUNT:
        return HALF
    middle = text.find(" ", len(text) // 2) + 1 or len(text) // 2
    try:
        halves = sum(
            map(_read_count, await _embed_in_few_calls(call, [text[:middle], text[middle:]]))
        )
    except PromptTooLongError:
        return HALF
    # If both halves were cut, their count does not show how long the text is. If they have as many
    # tokens as the whole, the server counts a text before it cuts it.
    known = count + max(FRAME_TOKENS, MISCOUNT * halves) < halves < 1.9 * count
    return CUT_SHORT * count / halves if known else HALF


def _measure_growth(count: int, longer: int) -> float | None:
    """Return the share by which two longer texts exceed a shorter one; None if it is unknown.

    ``count`` is the tokens of the shorter text, and ``longer`` the sum over both longer texts.
    """
    # Both together have at least twice as many tokens. An endpoint that counts the same number for
    # each call shows fewer, unless the texts were sent in two calls (see ``_counts_alike``).
    if count < LEAST_COUNT or longer < 1.5 * count:
        return None
    return longer / (2 * count) - 1


async def _counts_alike(call: Call, count: int) -> bool:
    """Return whether an endpoint reports ``count`` tokens, or more, even for a short text.

    Then its counts do not depend on the text, and show no cut. A short text has fewer tokens than
    a text that was cut to ``count``, even if each character is a token.
    """
    return _read_count(await _embed_in_one_call(call, [FOREIGN])) >= count


async def _embed_in_one_call(call: Call, texts: Sequence[str]) -> EmbeddedTexts:
    taken: list[EmbeddedTexts] = []

    async def take(embedded: EmbeddedTexts) -> None:
        taken.append(embedded)

    await call(texts, take)
    return taken[0]


async def _embed_in_few_calls(call: Call, texts: Sequence[str]) -> list[EmbeddedTexts]:
    """Embed texts in one call, or each in its own call if that one is too large."""
    try:
        return [await _embed_in_one_call(call, texts)]
    except PromptCutError:
        raise
    except PromptTooLongError:
        return [await _embed_in_one_call(call, [text]) for text in texts]


def _read_count(embedded: EmbeddedTexts) -> int:
    return 0 if embedded.usage.estimated else embedded.usage.input_tokens


def is_vector(row: NDArray[np.float32]) -> bool:
    """Return whether a row ``(d,)`` is a usable vector: all finite, and not all zero."""
    return bool(np.isfinite(row).all() and row.any())


@runtime_checkable
class TextLimited(Protocol):
    """A model whose endpoint can be asked for its limit for a text."""

    name: str

    @property
    def fit(self) -> TextFit:
        """The known limits of the endpoint, shared by all users of the model."""
        ...

    async def ask_limit(self) -> None:
        """Ask the server for its limit for a text, at no cost. Raises nothing."""
        ...


async def describe_text_limits(models: Iterable[object]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a model's name and its limit for a text in words.

    Each server is asked once, which costs nothing. Models without an endpoint, such as ``hashing``,
    are left out, because they read a text of any length.
    """
    described: dict[str, str] = {}
    for model in models:
        if isinstance(model, TextLimited):
            name = getattr(model, "model", None) or model.name
            described[name] = await _describe(model)
    return tuple(described.items())


async def _describe(model: TextLimited) -> str:
    fit = model.fit
    async with fit.learning:
        if not fit.asked:
            fit.asked = True
            await model.ask_limit()
    if fit.window is None:
        return UNKNOWN
    return f"about {fit.window:,} tokens of a text; longer ones in pieces, {fit.joined}"
