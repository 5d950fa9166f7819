"""An LLM whose replies are computed by a function: for tests, ours and our users'."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable

from pgs_neo4j.model import Completion, Effort, Prompt, Usage
from pgs_neo4j.text.tokens import estimate

DELTA_CHARACTERS = 24

Reply = str | Completion | Exception
Answer = Callable[[Prompt], Reply | Awaitable[Reply]]


def contract_reply(prompt: Prompt) -> str:
    """A valid answer to any prompt, citing nothing but what the prompt shows."""
    if prompt.task == "synthesis":
        return _synthesis(prompt)
    if prompt.task == "reduction":
        return _reduction(prompt)
    shown = prompt.nodes[:3]
    if prompt.task == "search":
        return "\n".join(f"{node.title or 'untitled'} was found [{node.alias}]." for node in shown)
    findings = [f"- {node.title or 'untitled'} says something [{node.alias}]." for node in shown]
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


def _reduction(prompt: Prompt) -> str:
    cited = [
        f"- {shown.name} says something [P{citation.partition}:{citation.alias}]."
        for shown in prompt.reports
        for citation in shown.report.citations[:1]
        if citation.valid
    ]
    lines = "\n".join(cited or ["None."])
    return f"## Domain State\n{len(prompt.reports)} reports.\n\n## Findings\n{lines}\n"


def _synthesis(prompt: Prompt) -> str:
    cited = [
        f"[P{citation.partition}:{citation.alias}]"
        for shown in prompt.reports
        for citation in shown.report.citations[:1]
    ]
    names = ", ".join(shown.name for shown in prompt.reports)
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
    """Answers with what ``answer`` returns; raises it when it is an exception.

    ``answer`` may be a coroutine function. ``prompts`` holds every prompt in order of
    arrival, ``max_tokens`` and ``efforts`` what came with each. ``delay_s`` passes before
    each answer.
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

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """What ``answer`` makes of ``prompt``, with estimated usage unless it says its own."""
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
        """The same in pieces of a few words, then the Completion."""
        completion = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        for piece in pieces(completion.text):
            yield piece
            await asyncio.sleep(0)
        yield completion

    async def close(self) -> None:
        """Only remembers that it was called."""
        self.closed = True


def pieces(text: str) -> list[str]:
    """``text`` cut after white space into pieces of about 24 characters; joined: ``text``."""
    found = re.findall(rf"(?s).{{{DELTA_CHARACTERS},}}?\s+|.+", text)
    return [str(piece) for piece in found]


def local_completion(prompt: Prompt, text: str, model: str) -> Completion:
    """A completion of a reader that runs here: its usage is estimated from the texts."""
    usage = Usage(
        calls=1,
        input_tokens=estimate(prompt.system) + estimate(prompt.user),
        output_tokens=estimate(text),
        estimated=True,
    )
    return Completion(text=text, usage=usage, model=model)
