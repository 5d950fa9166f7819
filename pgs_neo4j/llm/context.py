"""Keeps the contexts of models, and derives how long prompts and replies may be.

A model's context must have room for prompt and reply together. Sizes of prompts are estimates, and
the server counts with its own tokenizer, so some of the context stays free.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.config.providers import PRESETS, ProviderName

Origin = Literal["configured", "server", "refusal", "cut"]

ORIGINS: dict[Origin, str] = {
    "configured": "from [models] in pgs.toml",
    "server": "as the server says",
    "refusal": "learned from a refused prompt",
    "cut": "learned from a prompt that the server cut",
}

SMALL_CONTEXT = 16_384
"""Tokens; with a smaller context, a partition needs many short prompts, so users get advice."""
LARGER_CONTEXT = 32_768
"""Tokens of the context that the advice suggests."""
INPUT_SHARE = 0.875  # share of a context for prompts, for servers that limit prompts alone

# A chat template adds this many tokens to two messages. If the server may cut a prompt that was
# estimated too low instead of refusing it, this share of the context also stays free.
MARGIN_TOKENS = 64
MARGIN_SHARE = 0.05
# Tokens of a report of a few findings. A context that leaves less for the reply is too small for
# any pass.
LEAST_REPLY = 256
REPLY_SHARE = 0.4  # maximum share of a context for a reply

# A server may have been restarted with another context, so it is asked again. That costs nothing,
# but takes up to 5 s if it does not answer.
ASK_AGAIN_S = 60.0
UNKNOWN = (
    "unknown; its server does not report it, so each reply has to prove that it read the prompt"
)


@dataclass(frozen=True, slots=True)
class ModelContext:
    """The maximum number of tokens of a model's call, including the reply.

    ``refuses`` is true if the server answers a longer prompt with an error. Other servers may cut
    it silently. ``prompt`` is the size of a cut prompt, in tokens; None if no cut was seen.
    ``server`` is the name of the program that reports the context, if it is known.
    """

    tokens: int
    origin: Origin
    refuses: bool = False
    prompt: int | None = None
    server: str = ""

    @property
    def described(self) -> str:
        """The tokens and their origin, for display."""
        said = self.origin == "server" and self.server
        origin = f"as {self.server} says" if said else ORIGINS[self.origin]
        return f"{self.tokens:,} tokens ({origin})"


@runtime_checkable
class Limited(Protocol):
    """An LLM whose server can be asked for the model's context."""

    async def read_context(self) -> ModelContext | None:
        """Return the context that the server reports; None if it reports none. Raises nothing."""
        ...

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether the server is known to refuse a prompt that is too long."""
        ...


@runtime_checkable
class Advised(Protocol):
    """An LLM that can advise how to get a larger context from its server."""

    @property
    def larger_context(self) -> str:
        """The advice for a larger context, in words; empty if unknown."""
        ...


@dataclass(slots=True)
class Contexts:
    """The contexts of models by name: configured, reported by their servers, or learned.

    ``entries`` are the ``[models.NAME]`` tables. A context in them applies unless the server
    refuses or cuts a shorter prompt.
    """

    entries: Mapping[str, ModelEntry]
    _known: dict[str, ModelContext | None] = field(default_factory=dict)
    _said: dict[str, ModelContext] = field(default_factory=dict)
    _asked_at: dict[str, float] = field(default_factory=dict)
    _reported: dict[str, set[str]] = field(default_factory=dict)

    async def ask(self, llm: object) -> ModelContext | None:
        """Return a model's context, asking its server if nothing is known. Raises nothing."""
        await self.ask_again(llm)
        return self.of(_name_of(llm))

    async def ask_again(self, llm: object) -> bool:
        """Ask a model's server, at most once a minute; return whether its context has changed.

        A changed context replaces everything that was learned. Raises nothing.
        """
        name = _name_of(llm)
        if not isinstance(llm, Limited):
            return False
        entry = self.entries.get(name)
        if entry is not None and entry.context:
            refuses = llm.refuses_long_prompts
            configured = ModelContext(entry.context, "configured", refuses=refuses)
            self._known.setdefault(name, configured)
            return False
        now = asyncio.get_running_loop().time()
        if name in self._known and now < self._asked_at.get(name, now) + ASK_AGAIN_S:
            return False
        self._asked_at[name] = now
        answer, former = await llm.read_context(), self._said.get(name)
        changed = answer is not None and former is not None and answer.tokens != former.tokens
        if changed or self._known.get(name) is None:
            self._known[name] = answer
        if answer is not None:
            self._said[name] = answer
        return changed

    def is_new_model(self, name: str, reported: str) -> bool:
        """Return whether a reply reports another model than all earlier replies.

        If an endpoint serves one name with several models, this is true once for each new one.
        """
        if reported == name:  # a reply that reports no model has the configured name
            return False
        known = self._reported.setdefault(name, set())
        new = bool(known) and reported not in known
        known.add(reported)
        return new

    def forget(self, model: str) -> None:
        """Forget all knowledge about a model, because its name now belongs to another model."""
        for known in (self._known, self._said, self._asked_at):
            known.pop(model, None)

    def describe(self, llms: Sequence[object]) -> tuple[tuple[str, str], ...]:
        """Return pairs of a model's name and its context in words, for models behind endpoints."""
        described: dict[str, str] = {}
        for llm in llms:
            if isinstance(llm, Limited):
                name = _name_of(llm)
                known = self.of(name)
                limit = "limited by its endpoint" if llm.refuses_long_prompts else UNKNOWN
                described[name] = known.described if known else limit
        return tuple(described.items())

    def advise(self, llms: Sequence[object]) -> tuple[str, ...]:
        """Return a sentence of advice for each model with a small context."""
        advice: dict[str, str] = {}
        for llm in llms:
            name = _name_of(llm)
            if isinstance(llm, Limited) and (known := self.of(name)):
                larger = llm.larger_context if isinstance(llm, Advised) else ""
                advice[name] = advise_context(known, name, larger)
        return tuple(filter(None, advice.values()))

    def of(self, model: str) -> ModelContext | None:
        """Return the known context of a model; None if it is unknown."""
        if known := self._known.get(model):
            return known
        entry = self.entries.get(model)
        return ModelContext(entry.context, "configured") if entry and entry.context else None

    def learn(self, model: str, context: ModelContext) -> bool:
        """Store a context shown by the server if it is smaller; return whether it was stored."""
        known = self.of(model)
        if known is not None and known.tokens <= context.tokens:
            return False
        self._known[model] = context
        return True

    def learn_cut(self, model: str, kept: int, room: int) -> None:
        """Lower the context after a server cut a prompt to ``kept`` tokens.

        ``room`` is the limit of the reply, which shared the context with the prompt.
        """
        known = self.of(model)
        if known is None or known.prompt is None or kept < known.prompt:
            tokens = kept + min(room, kept)
            if known is not None:
                tokens = min(tokens, known.tokens)
            self._known[model] = ModelContext(tokens, "cut", prompt=kept)

    def learn_whole(self, model: str, counted: int) -> None:
        """Raise a learned context that was too small, after a prompt of ``counted`` tokens fit."""
        known = self._known.get(model)
        if known is None or known.origin not in ("cut", "refusal"):
            return
        more = counted - (known.prompt or known.tokens)
        if more > 0:
            prompt = None if known.prompt is None else counted
            self._known[model] = replace(known, tokens=known.tokens + more, prompt=prompt)

    def input_room(self, model: str, most: int | None, room: int) -> int | None:
        """Return the maximum input tokens next to a reply of ``room`` tokens; None without a limit.

        ``most`` is the configured limit. The reply gets at most 40 percent of a small context.
        """
        known = self.of(model)
        if known is None:
            return most
        reply = min(room, max(LEAST_REPLY, int(known.tokens * REPLY_SHARE)))
        fits = max(1, known.tokens - reply - _find_margin(known))
        if known.prompt is not None:
            fits = min(fits, _find_safe_size(known.prompt))
        return fits if most is None else min(most, fits)

    def fits(self, model: str, prompt: int) -> bool:
        """Return whether a prompt of ``prompt`` estimated tokens leaves room for a reply."""
        known = self.of(model)
        if known is None:
            return True
        if known.prompt is not None and prompt > _find_safe_size(known.prompt):
            return False
        return prompt + LEAST_REPLY + _find_margin(known) <= known.tokens

    def reply_room(self, model: str, prompt: int, room: int) -> int:
        """Return the maximum tokens of a reply: ``room``, or less if the prompt leaves less.

        ``prompt`` is the estimated size of the prompt, in tokens.
        """
        known = self.of(model)
        if known is None:
            return room
        return min(room, max(LEAST_REPLY, known.tokens - prompt - _find_margin(known)))


def _name_of(llm: object) -> str:
    return str(getattr(llm, "name", ""))


def _find_safe_size(kept: int) -> int:
    """Return the size of a prompt that a server will not cut, in estimated tokens.

    ``kept`` is the size to which it cut an earlier prompt.
    """
    return max(1, int(kept * (1 - MARGIN_SHARE)))


def _find_margin(known: ModelContext) -> int:
    """Return how many tokens of a context stay free, at most a quarter."""
    share = 0 if known.refuses else int(known.tokens * MARGIN_SHARE)
    return min(MARGIN_TOKENS + share, known.tokens // 4)


def describe_larger_context(
    provider: ProviderName | None, model: str, *, most: int | None = None, slots: int = 1
) -> str:
    """Return the advice for a larger context at a kind of server; empty if unknown.

    ``most`` is the context that the model was trained for, in tokens. ``slots`` is the number of
    calls that its server answers at once.
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
    """Return a sentence of advice for a small context; empty if the context is large enough.

    ``larger_context`` says in words how its server provides a larger one; empty if unknown.
    """
    if known.tokens >= SMALL_CONTEXT:
        return ""
    table = f"[models.{model!r}] in pgs.toml"
    if known.origin == "configured":
        what = f"if its server allows more, write a larger context under {table}"
    else:
        what = larger_context or f"raise its context to {LARGER_CONTEXT} tokens on its server"
    return (
        f"{model} takes {known.tokens:,} tokens per call, including its reply, so it reads in many "
        f"short passes; for fewer passes, {what}"
    )
