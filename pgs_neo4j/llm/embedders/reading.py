"""What a model reads of one text: proven by its vectors, or described as its server says."""

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

FRAME_TOKENS = 16  # that a model puts around a text, such as its beginning and end
CUT_SHORT = 0.9  # of the share of a text that was read, so that its pieces are read as a whole
MISCOUNT = 0.04
LEAST_GROWTH = 0.2  # of the share of tokens that a longer text must have more
# Cosines of a text and the same text with more at its end. Repeating a call in half precision
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
"""Embeds some texts in one call, and awaits the function that takes their vectors."""
Verdict = Literal["read", "cut", "refused", "unproven"]

UNKNOWN = "unknown; its server does not say it, so the longest text has to show it"


@dataclass(frozen=True, slots=True)
class ReadingProof:
    """Whether a text was read as a whole, and if it was not, the share that surely is."""

    verdict: Verdict
    share: float = 1.0


async def prove_read(call: Call, text: str) -> ReadingProof:
    """Return whether an embedder reads all of a text, at the cost of two calls, or three if not.

    By vectors: if the same text with something else at its end, or at its beginning, has the same
    vector, that end is not read. Tokens can only belie them, since some servers count a text before
    they cut it: a longer text has more, whatever is counted, unless both were cut. ``refused``: the
    longer text is too long to see. Raises PromptTooLongError where the text is refused alone, and
    the other errors of ``call``.
    """
    whole = await _one(call, [text])
    foreign = FOREIGN * (len(text) // FOREIGN_SHARE // len(FOREIGN) + 1)
    try:
        longer = await _some(call, [f"{text} {foreign}", foreign + text])
    except PromptCutError:
        return ReadingProof("cut", HALF)
    except PromptTooLongError:
        return ReadingProof("refused", BELOW_LONGER)
    rows = np.concatenate([one.vectors for one in longer])
    if len(rows) != 2 or not all(map(is_vector, (*rows, whole.vectors[0]))):
        return ReadingProof("unproven")
    nearest = float(np.max(rows.astype(np.float64) @ whole.vectors[0]))
    growth = _growth(_counted(whole), sum(map(_counted, longer)))
    added = measure(foreign).floor / measure(text).floor
    if nearest >= SAME or (growth is not None and growth < LEAST_GROWTH * added):
        return ReadingProof("cut", await _find_share(call, text, _counted(whole)))
    return ReadingProof("read" if nearest < DIFFERENT else "unproven")


async def _find_share(call: Call, text: str, count: int) -> float:
    """Return the share of a text that surely is read, where it was cut to a count of tokens."""
    if count < LEAST_COUNT:
        return HALF
    middle = text.find(" ", len(text) // 2) + 1 or len(text) // 2
    try:
        halves = sum(map(_counted, await _some(call, [text[:middle], text[middle:]])))
    except PromptTooLongError:
        return HALF
    # Where both halves were cut, their count does not tell how much there is. Where they have as
    # many as the whole, the server counts a text before it cuts it.
    known = count + max(FRAME_TOKENS, MISCOUNT * halves) < halves < 1.9 * count
    return CUT_SHORT * count / halves if known else HALF


def _growth(count: int, longer: int) -> float | None:
    """Return by what share each of two longer texts has more tokens than one; None if unknown."""
    # Two longer texts have at least twice as many. An endpoint that always counts the same has not.
    if count < LEAST_COUNT or longer < 1.5 * count:
        return None
    return longer / (2 * count) - 1


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


@runtime_checkable
class TextLimited(Protocol):
    """A model whose endpoint can be asked what it reads of a text."""

    name: str

    @property
    def fit(self) -> TextFit:
        """What is known so far, for all who use the model."""
        ...

    async def ask_limit(self) -> None:
        """Ask the server for its limit of a text, at no cost. Raises nothing."""
        ...


async def describe_text_limits(models: Iterable[object]) -> tuple[tuple[str, str], ...]:
    """Return what models behind endpoints read of a text, by their names.

    A server that was not asked yet is asked, which costs nothing. Others, such as ``hashing``, read
    any text and are left out.
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
