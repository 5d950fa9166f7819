"""Replies made in this process, scripted or not."""

from __future__ import annotations

import pytest

from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Completion, Prompt, Usage

SWEEP = Prompt(task="sweep", system="s", user="u", question="q")


async def test_answers_of_all_kinds_are_taken_and_prompts_and_limits_recorded() -> None:
    llm = ScriptedLLM(lambda prompt: f"about {prompt.question}", name="mine")
    assert isinstance(llm, LLM)
    completion = await llm.complete(SWEEP, max_tokens=5, effort="low")
    assert completion.text == "about q"
    assert completion.model == "mine"
    assert completion.usage == Usage(calls=1, input_tokens=2, output_tokens=2, estimated=True)
    assert (llm.prompts, llm.max_tokens, llm.efforts) == ([SWEEP], [5], ["low"])
    own = Completion(text="x", usage=Usage(calls=3), model="other", truncated=True)

    async def later(prompt: Prompt) -> str:
        return prompt.user

    assert (await ScriptedLLM(later).complete(SWEEP, max_tokens=5)).text == "u"
    assert await ScriptedLLM(lambda _: own).complete(SWEEP, max_tokens=5) is own
    with pytest.raises(ModelUnavailableError, match="down"):
        await ScriptedLLM(lambda _: ModelUnavailableError("down")).complete(SWEEP, max_tokens=5)
