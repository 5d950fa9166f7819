"""What a model can take, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from pgs_neo4j.config.providers import PRESETS, ProviderName

Origin = Literal["configured", "server", "refusal", "cut"]

ORIGINS: dict[Origin, str] = {
    "configured": "from [models] in pgs.toml",
    "server": "as the server says",
    "refusal": "learned from a refused prompt",
    "cut": "learned from a prompt that the server cut",
}


@dataclass(frozen=True, slots=True)
class ModelContext:
    """The tokens that a model takes in one call, its reply included.

    ``refuses``: its server answers a longer prompt with an error. Other servers may cut it and say
    nothing. ``prompt`` are the tokens that it left of a prompt that it cut. ``server`` is the name
    of the program that says it, if that is known.
    """

    tokens: int
    origin: Origin
    refuses: bool = False
    prompt: int | None = None
    server: str = ""

    @property
    def described(self) -> str:
        """Tokens and origin, for display."""
        said = self.origin == "server" and self.server
        origin = f"as {self.server} says" if said else ORIGINS[self.origin]
        return f"{self.tokens:,} tokens ({origin})"


SMALL_CONTEXT = 16_384
"""Tokens of a context that makes many short prompts of a partition."""
LARGER_CONTEXT = 32_768
"""Tokens of the context that is advised instead."""
INPUT_SHARE = 0.875  # of a context, where a server wants a limit for prompts alone


def describe_larger_context(
    provider: ProviderName | None, model: str, *, most: int | None = None, slots: int = 1
) -> str:
    """Return what to do at a kind of server for a larger context; empty: unknown.

    ``most`` is what the model was trained for, in tokens. ``slots`` are the calls that its server
    answers at once.
    """
    if provider is None:
        return ""
    tokens = min(LARGER_CONTEXT, most or LARGER_CONTEXT)
    return PRESETS[provider].larger_context.format(
        model=model,
        tokens=tokens,
        input=int(tokens * INPUT_SHARE),
        total=tokens * slots,
        slots=slots,
    )


def advise_context(known: ModelContext, model: str, larger_context: str) -> str:
    """Return a sentence on a context that is small, and what to do; empty for any other.

    ``larger_context`` is what its server wants for a larger one, in words; empty: unknown.
    """
    if known.tokens >= SMALL_CONTEXT:
        return ""
    table = f"[models.{model!r}] in pgs.toml"
    if known.origin == "configured":
        what = f"if its server gives it more, write a larger context under {table}"
    else:
        what = larger_context or f"let its server give it {LARGER_CONTEXT} tokens"
    return (
        f"{model} takes {known.tokens:,} tokens a call, its reply included, so it reads in many "
        f"short passes; for fewer, {what}"
    )


@runtime_checkable
class Limited(Protocol):
    """An LLM whose server can be asked what the model takes."""

    async def read_context(self) -> ModelContext | None:
        """Return what the server says; None if it says nothing. Raises nothing."""
        ...

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether its server is known to answer a too long prompt with an error."""
        ...


@runtime_checkable
class Advised(Protocol):
    """An LLM whose server is known to want something for a larger context."""

    @property
    def larger_context(self) -> str:
        """What to do for a larger context, in words; empty: unknown."""
        ...
