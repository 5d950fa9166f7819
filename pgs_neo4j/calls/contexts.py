"""What the models of a run can take, and the rooms that follow from it.

A model's context holds prompt and reply together. Sizes of prompts are estimates, and the server
counts in tokens of its own, so some of the context stays free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.llm.context import Advised, Limited, ModelContext, advise_context

# What a chat template adds to two messages. Where nothing refuses a prompt that was estimated too
# low, a share of the context stays free as well.
MARGIN_TOKENS = 64
MARGIN_SHARE = 0.05
# A report of a few findings. A context that leaves less holds no pass at all.
LEAST_REPLY = 256
UNKNOWN = "unknown; its server does not say it, so each prompt has to prove that it was read"
REPLY_SHARE = 0.4  # of the context, at most, where the wanted reply would take more


@dataclass(slots=True)
class Contexts:
    """The contexts of models by name: configured, told by their servers, or learned.

    ``entries`` are the ``[models.NAME]`` tables, which have the last word unless the server refuses
    or cuts less.
    """

    entries: Mapping[str, ModelEntry]
    _known: dict[str, ModelContext | None] = field(default_factory=dict)

    async def ask(self, llm: object) -> ModelContext | None:
        """Return a model's context, asking its server if nothing is known. Raises nothing."""
        name = str(getattr(llm, "name", ""))
        if name not in self._known and isinstance(llm, Limited):
            entry = self.entries.get(name)
            configured = entry.context if entry else None
            if configured:
                self._known[name] = ModelContext(
                    configured, "configured", refuses=llm.refuses_long_prompts
                )
            else:
                self._known[name] = await llm.read_context()
        return self.of(name)

    def describe(self, llms: Sequence[object]) -> tuple[tuple[str, str], ...]:
        """Return the contexts of models behind endpoints in words, by their names."""
        described: dict[str, str] = {}
        for llm in llms:
            if isinstance(llm, Limited):
                name = str(getattr(llm, "name", ""))
                known = self.of(name)
                limit = "limited by its endpoint" if llm.refuses_long_prompts else UNKNOWN
                described[name] = known.described if known else limit
        return tuple(described.items())

    def advise(self, llms: Sequence[object]) -> tuple[str, ...]:
        """Return a sentence for each model with a small context, and what to do."""
        advice: dict[str, str] = {}
        for llm in llms:
            name = str(getattr(llm, "name", ""))
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

    def input_room(self, model: str, most: int | None, room: int) -> int | None:
        """Return the most input tokens beside ``room`` for a reply; None without a limit.

        ``most`` is the configured limit. A reply takes at most a part of a small context.
        """
        known = self.of(model)
        if known is None:
            return most
        fits = max(1, known.tokens - self._reply_share(known, room) - _margin(known))
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

    def _reply_share(self, known: ModelContext, room: int) -> int:
        return min(room, max(LEAST_REPLY, int(known.tokens * REPLY_SHARE)))


def _within(kept: int) -> int:
    """Return the estimated tokens of a prompt that a server keeps that kept so many of another."""
    return max(1, int(kept * (1 - MARGIN_SHARE)))


def _margin(known: ModelContext) -> int:
    share = 0 if known.refuses else int(known.tokens * MARGIN_SHARE)
    return min(MARGIN_TOKENS + share, known.tokens // 4)
