"""One prompt over a context: its limits, and replies that obey or invent."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import entries
from pgs_neo4j.errors import BudgetError, ConfigError, UsageError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Found
from pgs_neo4j.pgs.answering.context import ANSWER, BYPASS, build_context
from pgs_neo4j.pgs.answering.reading import read_reply_text
from pgs_neo4j.pgs.answering.record import AnswerOrder
from pgs_neo4j.pgs.answering.reply import check_prices, fit_prompt, is_empty
from pgs_neo4j.text.tokens import estimate
from tests.thorough import tries
from tests.unit.pgs.answering.conftest import answer_order
from tests.unit.pgs.answering.test_context import fact, found, node

WIDE = found(
    *(node(number, f"Tea {number} was traded. " * 20) for number in range(1, 31)),
    facts=tuple(fact(number, "Tea") for number in range(1, 9)),
)
ENOUGH = 5000
"""Tokens that leave room for a prompt, whatever they are counted in."""
INVENTED = st.sampled_from(["[n1]", "[n31]", "[t1]", "[t9]", "[n2, t3]", "[P4:n1]", "n5", "(n7)"])


def order(made: Found = WIDE, tokens: int = 12_000, **config: Any) -> AnswerOrder:
    return answer_order(made, PGSConfig(**config), max_context_tokens=tokens)


def fitted(wanted: AnswerOrder, llm: Any = None) -> tuple[Any, Any]:
    """The context and the prompt within the limits of the order's knobs."""

    async def fit() -> tuple[Any, Any]:
        calls = Calls.of(wanted.run.config, {})
        tools: Any = SimpleNamespace(calls=calls, synthesis_llm=llm or ScriptedLLM())
        return fit_prompt(wanted, tools)

    return asyncio.run(fit())


@settings(max_examples=tries(25, 60))
@given(st.integers(1, 40_000))
def test_a_budget_is_kept_or_the_call_is_refused(most: int) -> None:
    wanted = order(max_tokens=most, synthesis_max_tokens=600)
    try:
        context, prompt = fitted(wanted)
    except BudgetError:
        assert most < ENOUGH
        return
    assert context.tokens > 0
    assert estimate(prompt.system) + estimate(prompt.user) < most


def test_the_text_of_each_node_is_what_the_prompt_shows_of_it() -> None:
    context, prompt = fitted(order(tokens=900))
    assert prompt.system == ANSWER
    shown = [one for one in prompt.nodes if one.text]
    assert 0 < len(shown) < len(context.nodes)
    assert all(line in prompt.user for one in shown for line in one.text.splitlines())


def test_only_a_search_that_found_nothing_is_empty_and_bypass_needs_a_model() -> None:
    bypass = found(mode="bypass")
    context, prompt = fitted(order(bypass))
    assert (context.text, context.tokens, prompt.user) == ("", 0, bypass.question)
    assert prompt.system == BYPASS
    with pytest.raises(UsageError, match="needs a language model"):
        fitted(order(bypass), ExtractiveLLM())
    assert is_empty(order(found()))
    assert not is_empty(order(found(mode="bypass")))
    assert not is_empty(order(found(facts=(fact(1, "Tea"),))))


def test_a_limit_on_the_cost_needs_the_price_of_the_one_model_that_answers() -> None:
    async def check(name: str) -> None:
        calls = Calls.of(
            PGSConfig(max_cost=1.0), entries({"large": {"input_price": 1.0, "output_price": 2.0}})
        )
        tools: Any = SimpleNamespace(calls=calls, synthesis_llm=ScriptedLLM(name=name))
        check_prices(tools)

    asyncio.run(check("large"))
    with pytest.raises(ConfigError, match="needs the price of small"):
        asyncio.run(check("small"))


@settings(max_examples=tries(50, 200))
@given(st.lists(st.one_of(INVENTED, st.text("ab [](),nt0123:\n#-", max_size=9)), max_size=30))
def test_no_reply_can_cite_what_was_not_shown(pieces: list[str]) -> None:
    context = build_context(WIDE, 3000)
    read = read_reply_text("## Findings\n- " + " ".join(pieces), context)
    shown: dict[str, Any] = {**context.nodes, **context.facts}
    every = [*read.citations, *(one for claim in read.findings for one in claim.citations)]
    for cited in every:
        assert cited.valid == (cited.alias in shown and not cited.partition)
        if cited.valid:
            assert cited.element_id == shown[cited.alias].id
    assert all(claim.supported == any(c.valid for c in claim.citations) for claim in read.findings)
