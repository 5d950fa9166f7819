"""Wraps the extractive reader as an LLM, and writes its answers from a search."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from pgs_neo4j.llm.extractive.scoring import Reading, best, name_of, read
from pgs_neo4j.llm.extractive.sweep import sweep_report
from pgs_neo4j.llm.extractive.synthesis import reduction, synthesis
from pgs_neo4j.model import Completion, Effort, Prompt, Usage
from pgs_neo4j.text.tokens import estimate
from pgs_neo4j.text.words import stem, words

LEAD = "Extracted without a language model: quoted from the nodes found, not reasoned over."
NONE = "None."

# Bullets allowed per section, tried in turn until the reply fits ``max_tokens``.
BULLETS = (8, 5, 3, 1)

DELTA_CHARACTERS = 24
_PIECE = re.compile(rf".{{{DELTA_CHARACTERS},}}?\s+|.+", re.DOTALL)


class ExtractiveLLM:
    """Answers from the structured values of a prompt, always in the same way."""

    name = "extractive"
    free = True

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Fill the report format with quotes, in a thread; ``effort`` is ignored."""
        del effort
        text = await asyncio.to_thread(_write_reply, prompt, max_tokens)
        return local_completion(prompt, text, self.name)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield the reply in pieces of a few words, then the Completion."""
        completion = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        for piece in split_reply(completion.text):
            yield piece
            await asyncio.sleep(0)
        yield completion

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""


def _write_reply(prompt: Prompt, max_tokens: int) -> str:
    """Write the longest reply that fits, or else the shortest one."""
    text = ""
    for bullets in BULLETS:
        text = WRITERS[prompt.task](prompt, bullets)
        if estimate(text) <= max_tokens:
            break
    return text


def search_answer(prompt: Prompt, bullets: int) -> str:
    """Return quotes with citations, or the nodes' names if no quote fits."""
    reading = read(prompt)
    if not reading.nodes:
        return f"{LEAD} No node was found."
    quotes = best(reading, bullets)
    if quotes:
        return "\n".join((LEAD, "", *(f"- {quoted.line}" for quoted in quotes)))
    nearest = _name_nearest(reading, bullets)
    return f"{LEAD} No sentence of theirs holds the question's words; the nearest are {nearest}."


def found_answer(prompt: Prompt, bullets: int) -> str:
    """Return three sections: the answer, quotes with citations, and words that no node contains."""
    reading = read(prompt)
    quotes = best(reading, bullets)
    findings = [f"- {quoted.line}" for quoted in quotes]
    nearest = _name_nearest(reading, bullets)
    answer = quotes[0].line if quotes else f"The nearest nodes are {nearest}." if nearest else NONE
    missing = [f"- “{word}”" for word in _find_missing_words(prompt, reading)[:bullets]]
    parts = (
        ("Answer", [LEAD, "", answer]),
        ("Findings", findings or [NONE]),
        ("Not found", missing or [NONE]),
    )
    return "\n\n".join("\n".join((f"## {title}", *lines)) for title, lines in parts)


def _name_nearest(reading: Reading, most: int) -> str:
    return "; ".join(f"{name_of(node)} [{node.alias}]" for node in reading.nodes[:most])


def _find_missing_words(prompt: Prompt, reading: Reading) -> list[str]:
    """Return the words of the question that no node contains, as the question spells them."""
    asked = {stem(word): word for word in reversed(words(prompt.question))}
    return [
        asked[term] for term in reading.terms.stems if term in asked and not reading.holders(term)
    ]


WRITERS = {
    "sweep": sweep_report,
    "reduction": reduction,
    "synthesis": synthesis,
    "search": search_answer,
    "answer": found_answer,
}


def local_completion(prompt: Prompt, text: str, model: str) -> Completion:
    """Return a completion whose usage is estimated from the texts."""
    usage = Usage(
        calls=1,
        input_tokens=estimate(prompt.system) + estimate(prompt.user),
        output_tokens=estimate(text),
        estimated=True,
    )
    return Completion(text=text, usage=usage, model=model)


def split_reply(text: str) -> list[str]:
    """Divide ``text`` after white space into pieces of about 24 characters; nothing is lost."""
    return _PIECE.findall(text)
