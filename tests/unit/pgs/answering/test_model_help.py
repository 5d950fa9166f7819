"""Keywords by a model: what is asked, how replies are read, and what stands in for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.errors import BudgetError, ModelError
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Found
from pgs_neo4j.pgs.answering.model_help import (
    KEYED,
    asks_for_keywords,
    find_again,
    keyword_prompt,
    parse_keywords,
)
from pgs_neo4j.text.keywords import MOST, Keywords
from tests.unit.pgs.answering.conftest import Helper, answer_order
from tests.unit.pgs.answering.test_context import found

QUESTION = "Did the Hanse trade tea?"
AGAIN = found(question="again")


@pytest.mark.parametrize(
    ("reply", "low", "high"),
    [
        ("names: Hanse; Tea\nthemes: trade; trust", ("hanse", "tea"), ("trade", "trust")),
        ("- **Names:** Hanse; hanse\n* THEMES : trade.", ("hanse",), ("trade",)),
        ("<think>names: x</think>names: Hanse\nthemes: none", ("hanse",), ("trade", "tea")),
        ("themes: trust", ("hanse",), ("trust",)),
        ("Sure!\nnames: a;;b; \nthemes: c\nDone.", ("a", "b"), ("c",)),
    ],
)
def test_keywords_are_read_whatever_is_around_them(
    reply: str, low: tuple[str, ...], high: tuple[str, ...]
) -> None:
    assert parse_keywords(reply, QUESTION) == Keywords(low, high)
    for empty in ("", "I cannot.", "names: none\nthemes: n/a", "names:\nthemes:"):
        assert parse_keywords(empty, QUESTION) is None


@given(st.text(st.sampled_from("names: thm;\n*-abc\x1b\u202e"), max_size=200))
def test_keywords_are_few_short_and_visible(reply: str) -> None:
    keywords = parse_keywords(f"names: {reply}", QUESTION)
    for kind in (keywords.low, keywords.high) if keywords else ():
        assert 0 < len(kind) <= MOST
        assert all(word.isprintable() and len(word) <= 80 for word in kind)


def searched_again(
    helper: Helper, mode: Any = "local", source: Any = "model"
) -> tuple[Found, list[Keywords]]:
    """What is found in the end, and the keywords that were searched for."""
    searched: list[Keywords] = []

    async def again(keywords: Keywords) -> Found:
        searched.append(keywords)
        return AGAIN

    order = answer_order(found(question=QUESTION, mode=mode), keywords=source, again=again)
    return asyncio.run(find_again(order, helper.tools, helper.record)), searched


@pytest.mark.parametrize("mode", KEYED)
def test_modes_of_keywords_search_for_those_of_the_model(mode: Any) -> None:
    helper = Helper("names: tea\nthemes: trade")
    assert searched_again(helper, mode) == (AGAIN, [Keywords(("tea",), ("trade",))])


@pytest.mark.parametrize(
    ("mode", "source", "llm"),
    [
        ("hybrid", "model", ScriptedLLM()),
        ("local", "words", ScriptedLLM()),
        ("local", "model", ExtractiveLLM()),
    ],
)
def test_no_model_is_asked_where_none_is_wanted_or_there(mode: Any, source: Any, llm: LLM) -> None:
    helper = Helper("names: tea", llm)
    made, searched = searched_again(helper, mode, source)
    assert (made.mode, searched, helper.asked, helper.log.warnings) == (mode, [], 0, [])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ModelError("the model is gone"), "the model is gone"),
        (BudgetError("no room"), "no room"),
        ("I cannot.", "the model named no keywords"),
    ],
)
def test_a_failure_keeps_what_the_words_found_and_says_so(
    reply: str | Exception, reason: str
) -> None:
    helper = Helper(reply)
    made, searched = searched_again(helper)
    assert (made.mode, searched) == ("local", [])
    assert helper.log.warnings == [f"the question's own words were searched for: {reason}"]


def test_the_prompt_shows_the_question_and_nothing_of_the_graph() -> None:
    prompt = keyword_prompt(QUESTION)
    assert (prompt.user, prompt.nodes) == (f"Question: {QUESTION}", ())
    order = answer_order(found(mode="local"), keywords="model")
    # There is nothing to search again with.
    assert not asks_for_keywords(order, Helper("names: tea").tools)
