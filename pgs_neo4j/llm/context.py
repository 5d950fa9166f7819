"""What a model can take in one call, how that is known, and the rooms that follow from it.

A model's context holds prompt and reply together. Sizes of prompts are estimates, and the server
counts in tokens of its own, so some of the context stays free.
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
"""Tokens of a context that makes many short prompts of a partition."""
LARGER_CONTEXT = 32_768
"""Tokens of the context that is advised instead."""
INPUT_SHARE = 0.875  # of a context, where a server wants a limit for prompts alone

# What a chat template adds to two messages. Where nothing refuses a prompt that was estimated too
# low, a share of the context stays free as well.
MARGIN_TOKENS = 64
MARGIN_SHARE = 0.05
# A report of a few findings. A context that leaves less holds no pass at all.
LEAST_REPLY = 256
REPLY_SHARE = 0.4  # of the context, at most, where the wanted reply would take more

# A server may have been restarted with another context. Asking costs nothing, but takes up to 5 s
# where it does not answer.
ASK_AGAIN_S = 60.0
UNKNOWN = "unknown; its server does not say it, so each prompt has to prove that it was read"


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


@dataclass(slots=True)
class Contexts:
    """The contexts of models by name: configured, told by their servers, or learned.

    ``entries`` are the ``[models.NAME]`` tables, which have the last word unless the server refuses
    or cuts less.
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
        """Ask a model's server, at most once a minute, and return whether it has changed.

        If it says something else than before, that replaces all that was learned. Raises nothing.
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
        said, before = await llm.read_context(), self._said.get(name)
        changed = said is not None and before is not None and said.tokens != before.tokens
        if changed or self._known.get(name) is None:
            self._known[name] = said
        if said is not None:
            self._said[name] = said
        return changed

    def is_new_model(self, name: str, reported: str) -> bool:
        """Return whether replies of a model bear a name that no earlier one did.

        An endpoint that serves one name with several models is followed once for each of them.
        """
        if reported == name:  # some replies do not say
            return False
        known = self._reported.setdefault(name, set())
        new = bool(known) and reported not in known
        known.add(reported)
        return new

    def forget(self, model: str) -> None:
        """Forget what is known of a model, because another one has its name now."""
        for known in (self._known, self._said, self._asked_at):
            known.pop(model, None)

    def describe(self, llms: Sequence[object]) -> tuple[tuple[str, str], ...]:
        """Return the contexts of models behind endpoints in words, by their names."""
        described: dict[str, str] = {}
        for llm in llms:
            if isinstance(llm, Limited):
                name = _name_of(llm)
                known = self.of(name)
                limit = "limited by its endpoint" if llm.refuses_long_prompts else UNKNOWN
                described[name] = known.described if known else limit
        return tuple(described.items())

    def advise(self, llms: Sequence[object]) -> tuple[str, ...]:
        """Return a sentence for each model with a small context, and what to do."""
        advice: dict[str, str] = {}
        for llm in llms:
            name = _name_of(llm)
            if isinstance(llm, Limited) and (known := self.of(name)):
                larger = llm.larger_context if isinstance(llm, Advised) else ""
                advice[name] = advise_context(known, name, larger)
        return tuple(filter(None, advice.values()))

    def of(self, model: str) -> ModelContext | None:
        """Return what is known of a model's context; None if nothing is."""
        if known := self._known.get(model):
            return known
        entry = self.entries.get(model)
        return ModelContext(entry.context, "configured") if entry and entry.context else None

    def learn(self, model: str, context: ModelContext) -> bool:
        """Take in a context that the server has shown; return whether it is smaller than known."""
        known = self.of(model)
        if known is not None and known.tokens <= context.tokens:
            return False
        self._known[model] = context
        return True

    def learn_cut(self, model: str, kept: int, room: int) -> None:
        """Take in that a server left ``kept`` tokens of a prompt beside a reply of ``room``."""
        known = self.of(model)
        if known is None or known.prompt is None or kept < known.prompt:
            tokens = kept + min(room, kept)
            if known is not None:
                tokens = min(tokens, known.tokens)
            self._known[model] = ModelContext(tokens, "cut", prompt=kept)

    def learn_whole(self, model: str, counted: int) -> None:
        """Take in that a prompt of so many tokens was read: what was learned was too little."""
        known = self._known.get(model)
        if known is None or known.origin not in ("cut", "refusal"):
            return
        more = counted - (known.prompt or known.tokens)
        if more > 0:
            prompt = None if known.prompt is None else counted
            self._known[model] = replace(known, tokens=known.tokens + more, prompt=prompt)

    def input_room(self, model: str, most: int | None, room: int) -> int | None:
        """Return the most input tokens beside ``room`` for a reply; None without a limit.

        ``most`` is the configured limit. A reply takes at most a part of a small context.
        """
        known = self.of(model)
        if known is None:
            return most
        reply = min(room, max(LEAST_REPLY, int(known.tokens * REPLY_SHARE)))
        fits = max(1, known.tokens - reply - _margin(known))
        if known.prompt is not None:
            fits = min(fits, _within(known.prompt))
        return fits if most is None else min(most, fits)

    def fits(self, model: str, prompt: int) -> bool:
        """Return whether a prompt of these estimated tokens leaves room for a reply."""
        known = self.of(model)
        if known is None:
            return True
        if known.prompt is not None and prompt > _within(known.prompt):
            return False
        return prompt + LEAST_REPLY + _margin(known) <= known.tokens

    def reply_room(self, model: str, prompt: int, room: int) -> int:
        """Return the tokens that a reply may have beside a prompt: ``room``, or what is left."""
        known = self.of(model)
        if known is None:
            return room
        return min(room, max(LEAST_REPLY, known.tokens - prompt - _margin(known)))


def _name_of(llm: object) -> str:
    return str(getattr(llm, "name", ""))


def _within(kept: int) -> int:
    """Return the estimated tokens that a server reads whole, after it kept so many of a prompt."""
    return max(1, int(kept * (1 - MARGIN_SHARE)))


def _margin(known: ModelContext) -> int:
    share = 0 if known.refuses else int(known.tokens * MARGIN_SHARE)
    return min(MARGIN_TOKENS + share, known.tokens // 4)


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
