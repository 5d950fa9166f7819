"""What models of vectors and of relevance read of one text, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from pgs_neo4j.llm.embedders.fitting import TextFit

UNKNOWN = "unknown; its server does not say it, so the longest text has to show it"


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
