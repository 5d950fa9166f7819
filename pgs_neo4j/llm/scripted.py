"""Provides an LLM for tests, whose replies a function computes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from pgs_neo4j.llm.extractive.reader import local_completion, split_reply
from pgs_neo4j.model import Completion, Effort, Prompt

Reply = str | Completion | Exception
Answer = Callable[[Prompt], Reply | Awaitable[Reply]]


def contract_reply(prompt: Prompt) -> str:
    """Return a valid reply to any prompt, citing only its nodes."""
    if prompt.task == "synthesis":
        return _write_synthesis(prompt)
    if prompt.task == "reduction":
        return _write_reduction(prompt)
    if prompt.task == "keywords":
        return f"names: {prompt.question}\nthemes: {prompt.question}"
    if prompt.task == "rerank":
        return "2, 1"
    nodes = prompt.nodes[:3]
    if prompt.task == "search":
        return "\n".join(f"{node.title or 'untitled'} was found [{node.alias}]." for node in nodes)
    findings = [f"- {node.title or 'untitled'} says something [{node.alias}]." for node in nodes]
    flags = [f"- {n.name}: it may continue what is said here." for n in prompt.neighbors[:2]]
    return "\n".join(
        (
            "## Domain State",
            f"{len(prompt.nodes)} nodes were read.",
            "",
            "## Findings",
            *(findings or ["- none"]),
            "",
            "## Outbound Flags",
            *(flags or ["- none"]),
            "",
            "## Absences",
            "- Nothing on the migration of unicorns.",
            "",
        )
    )


def _write_reduction(prompt: Prompt) -> str:
    cited = [
        f"- {entry.name} says something [P{citation.partition}:{citation.alias}]."
        for entry in prompt.reports
        for citation in entry.report.citations[:1]
        if citation.valid
    ]
    lines = "\n".join(cited or ["None."])
    return f"## Domain State\n{len(prompt.reports)} reports.\n\n## Findings\n{lines}\n"


def _write_synthesis(prompt: Prompt) -> str:
    cited = [
        f"[P{citation.partition}:{citation.alias}]"
        for entry in prompt.reports
        for citation in entry.report.citations[:1]
    ]
    names = ", ".join(entry.name for entry in prompt.reports)
    return "\n".join(
        (
            "## Thesis",
            f"{len(prompt.reports)} partitions agree {' '.join(cited)}".rstrip() + ".",
            "",
            "## Connections",
            f"- {names or 'nothing'} belong together{''.join(f' {c}' for c in cited[:2])}.",
            "",
            "## Absences",
            "- Nothing on the migration of unicorns.",
            "",
            "## Convergences",
            f"- The same is found in {names or 'no partition'}.",
            "",
        )
    )


class ScriptedLLM:
    """Replies with the result of ``answer``, or raises it if it is an exception.

    ``answer`` may be a coroutine function. ``prompts`` has every prompt in order of arrival, and
    ``max_tokens`` and ``efforts`` have the arguments of each call. Each reply takes ``delay_s``
    seconds.
    """

    def __init__(
        self, answer: Answer = contract_reply, *, name: str = "scripted", delay_s: float = 0.0
    ) -> None:
        self.name = name
        self.prompts: list[Prompt] = []
        self.max_tokens: list[int] = []
        self.efforts: list[Effort | None] = []
        self.closed = False
        self._answer = answer
        self._delay_s = delay_s

    @property
    def signature(self) -> str:
        """The name, so models of the same name share their cached replies."""
        return self.name

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the reply to ``prompt``, with an estimated usage unless ``answer`` returns one."""
        self.prompts.append(prompt)
        self.max_tokens.append(max_tokens)
        self.efforts.append(effort)
        await asyncio.sleep(self._delay_s)
        reply = self._answer(prompt)
        if not isinstance(reply, str | Completion | Exception):
            reply = await reply
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        return local_completion(prompt, reply, self.name)

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
        """Set ``closed``."""
        self.closed = True
