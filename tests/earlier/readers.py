"""Scripted models that report in full, in part, or never."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pgs_neo4j.errors import ModelUnavailableError, PromptTooLongError
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Prompt

Reader = Callable[[Prompt], Any]

ABSENT = ("unicorns", "fact4")  # the second one is in the graph
HUNG = 3  # the partition on which no reply comes


def read(prompt: Prompt) -> str:
    """Report true and false quotations, flags, absences, and similar findings."""
    if prompt.task != "sweep":
        return contract_reply(prompt)
    node = prompt.nodes[0]
    findings = [f"- It says “{node.text[:40]}” [{node.alias}]."]
    flags = []
    if prompt.partition == 1:
        findings.append(f"- It says “there is nothing to be read here” [{node.alias}] [n9999].")
        flags = [f"- {near.name}: the energy of dinitrogen [n1]." for near in prompt.neighbors[:1]]
    if prompt.partition in (1, 2):
        findings.append(f"- Promoters lower the energy of dinitrogen [{node.alias}].")
    return "\n".join(
        (
            f"## Domain State\n{len(prompt.nodes)} nodes were read.\n\n## Findings",
            *findings,
            "\n## Outbound Flags",
            *(flags or ["None."]),
            f"\n## Absences\n- No node mentions {ABSENT[prompt.partition == 1]}.\n",
        )
    )


def read_partly(prompt: Prompt) -> str | Exception:
    """Read, except all of one partition and half of another."""
    if prompt.task != "sweep":
        return contract_reply(prompt)
    if prompt.partition == 1:
        return ModelUnavailableError("the model gave up")
    if prompt.partition == 2 and len(prompt.nodes) > 5:
        return PromptTooLongError("longer than the model's context")
    if prompt.partition == 2 and prompt.nodes[0].alias != "n1":
        return ModelUnavailableError("the model gave up")
    return read(prompt)


def read_without_answer(prompt: Prompt) -> str | Exception:
    """Read, but fail to synthesize."""
    return read(prompt) if prompt.task == "sweep" else ModelUnavailableError("the model gave up")


async def read_nothing(prompt: Prompt) -> str:
    """Never reply."""
    await asyncio.Event().wait()
    return ""


async def read_until_hung(prompt: Prompt) -> str:
    """Read, but never reply on one partition."""
    if prompt.partition == HUNG:
        await asyncio.Event().wait()
    return read(prompt)
