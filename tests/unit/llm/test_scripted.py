from __future__ import annotations

import re

import pytest

from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import (
    Citation,
    Completion,
    Finding,
    Prompt,
    PromptNeighbor,
    PromptNode,
    PromptReport,
    Report,
    Usage,
)

SWEEP = Prompt(
    task="sweep",
    system="s",
    user="u",
    question="q",
    nodes=(PromptNode("n1", "One", "text"), PromptNode("n2", "", "text")),
    neighbors=(PromptNeighbor("P7", ("k",), "sum"),),
)


def sections(text: str) -> list[str]:
    return re.findall(r"^## (.+)$", text, flags=re.MULTILINE)


async def test_records_prompts_and_limits_and_estimates_usage() -> None:
    llm = ScriptedLLM(lambda prompt: f"about {prompt.question}", name="mine")
    assert isinstance(llm, LLM)
    completion = await llm.complete(SWEEP, max_tokens=5, effort="low")
    assert completion.text == "about q"
    assert completion.model == "mine"
    assert completion.usage == Usage(calls=1, input_tokens=2, output_tokens=2, estimated=True)
    assert (llm.prompts, llm.max_tokens, llm.efforts) == ([SWEEP], [5], ["low"])


async def test_answers_may_be_awaitable_completions_or_exceptions() -> None:
    own = Completion(text="x", usage=Usage(calls=3), model="other", truncated=True)

    async def later(prompt: Prompt) -> str:
        return prompt.user

    assert (await ScriptedLLM(later).complete(SWEEP, max_tokens=5)).text == "u"
    assert await ScriptedLLM(lambda _: own).complete(SWEEP, max_tokens=5) is own
    with pytest.raises(ModelUnavailableError, match="down"):
        await ScriptedLLM(lambda _: ModelUnavailableError("down")).complete(SWEEP, max_tokens=5)


async def test_streams_pieces_then_the_completion() -> None:
    llm = ScriptedLLM(contract_reply, delay_s=0.001)
    *texts, last = [item async for item in llm.stream(SWEEP, max_tokens=9)]
    assert isinstance(last, Completion)
    assert len(texts) > 3
    assert "".join(map(str, texts)) == last.text
    await llm.close()
    assert llm.closed


def test_contract_reply_cites_only_what_is_shown() -> None:
    report = contract_reply(SWEEP)
    assert sections(report) == ["Domain State", "Findings", "Outbound Flags", "Absences"]
    assert re.findall(r"\[(.+?)\]", report) == ["n1", "n2"]
    assert "- P7: " in report
    cited = Finding(text="f [n3]", citations=(Citation(alias="n3", partition=4),))
    shown = PromptReport("P4", (), Report(partition=4, findings=(cited,)), "")
    prompt = Prompt(task="synthesis", system="", user="", question="q", reports=(shown,))
    synthesis = contract_reply(prompt)
    assert sections(synthesis) == ["Thesis", "Connections", "Absences", "Convergences"]
    assert set(re.findall(r"\[(.+?)\]", synthesis)) == {"P4:n3"}


def test_contract_reply_stands_empty_prompts() -> None:
    for task in ("sweep", "synthesis", "search"):
        prompt = Prompt(task=task, system="", user="", question="")  # type: ignore[arg-type]
        assert "[" not in contract_reply(prompt)
