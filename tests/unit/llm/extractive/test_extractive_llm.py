from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.extractive.reader import LEAD
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Prompt, PromptNode
from pgs_neo4j.text.tokens import estimate

NODES = tuple(
    PromptNode(f"n{i}", f"module{i}", f"Module {i} handles sockets in way number {'x' * i}.")
    for i in range(1, 30)
)


def prompt(task: Any = "sweep", nodes: tuple[PromptNode, ...] = NODES) -> Prompt:
    return Prompt(task=task, system="s", user="u" * 70, question="Which sockets?", nodes=nodes)


async def test_the_same_prompt_gives_the_same_text() -> None:
    llm = ExtractiveLLM()
    assert isinstance(llm, LLM)
    first = await llm.complete(prompt(), max_tokens=6000, effort="high")
    assert first == await ExtractiveLLM().complete(prompt(), max_tokens=6000)
    assert first.model == "extractive"
    assert first.usage.estimated
    assert not first.truncated
    await llm.close()


@pytest.mark.parametrize("max_tokens", [200, 400, 6000])
async def test_the_reply_fits_the_room_it_has(max_tokens: int) -> None:
    text = (await ExtractiveLLM().complete(prompt(), max_tokens=max_tokens)).text
    assert estimate(text) <= max_tokens
    assert "## Absences" in text


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (NODES, "\n\n- module2: Module 2 handles sockets in way number xx. [n2]\n- "),
        ((PromptNode("n1", "Paint", "Colors dry on the wall."),), "the nearest are Paint [n1]."),
        ((), " No node was found."),
    ],
)
async def test_a_search_is_answered_with_cited_quotes_or_names_the_nearest(
    nodes: tuple[PromptNode, ...], said: str
) -> None:
    text = (await ExtractiveLLM().complete(prompt("search", nodes), max_tokens=900)).text
    assert text.startswith(LEAD)
    assert said in text
    assert len(nodes) > 1 or text.endswith(said)
