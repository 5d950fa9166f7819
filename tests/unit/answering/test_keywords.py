"""Keywords by a model: what is asked, how replies are read, and what stands in for them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.answering.keywords import (
    KEYED,
    asks_for_keywords,
    find_again,
    keyword_prompt,
    parse_keywords,
)
from pgs_neo4j.answering.order import AnswerOrder
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import BudgetError, ModelError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Found, GraphMapping
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.text.keywords import MOST, Keywords
from tests.unit.answering.test_context import found

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


@pytest.mark.parametrize("reply", ["", "I cannot.", "names: none\nthemes: n/a", "names:\nthemes:"])
def test_a_reply_without_keywords_is_none(reply: str) -> None:
    assert parse_keywords(reply, QUESTION) is None


@given(st.text(st.sampled_from("names: thm;\n*-abc\x1b\u202e"), max_size=200))
def test_keywords_are_few_short_and_visible(reply: str) -> None:
    keywords = parse_keywords(f"names: {reply}", QUESTION)
    for kind in (keywords.low, keywords.high) if keywords else ():
        assert 0 < len(kind) <= MOST
        assert all(word.isprintable() and len(word) <= 80 for word in kind)


class Tried:
    """Tools and a record whose model replies, or fails, once; counts searches."""

    def __init__(self, reply: str | Exception = "names: tea\nthemes: trade") -> None:
        self.reply = reply
        self.searched: list[Keywords] = []
        self.log = RunLog(ignore)
        self.sweep_llm: Any = ScriptedLLM()
        self.calls = self
        self.replies = None
        self.recorded: Any = SimpleNamespace(replies=SimpleNamespace(key=lambda *_: None))

    async def complete(self, *given: Any, **options: Any) -> Any:
        if isinstance(self.reply, Exception):
            raise self.reply
        return SimpleNamespace(text=self.reply, usage=SimpleNamespace(cached=0), truncated=False)

    async def again(self, keywords: Keywords) -> Found:
        self.searched.append(keywords)
        return AGAIN

    def find(self, mode: Any = "local", source: Any = "model") -> Found:
        run = RunOrder(
            question=QUESTION, graph="papers", mapping=GraphMapping(), config=PGSConfig()
        )
        order = AnswerOrder(run=run, found=found(mode=mode), keywords=source, again=self.again)
        tools: Any = self
        return asyncio.run(find_again(order, tools, self.recorded))


@pytest.mark.parametrize("mode", KEYED)
def test_modes_of_keywords_search_for_those_of_the_model(mode: Any) -> None:
    tried = Tried()
    assert tried.find(mode) is AGAIN
    assert tried.searched == [Keywords(("tea",), ("trade",))]


@pytest.mark.parametrize(("mode", "source"), [("hybrid", "model"), ("local", "words")])
def test_no_model_is_asked_where_none_is_wanted(mode: Any, source: Any) -> None:
    tried = Tried(ModelError("it must not be asked"))
    assert tried.find(mode, source).mode == mode
    assert tried.log.warnings == []


def test_a_reader_without_a_model_keeps_the_words() -> None:
    tried = Tried()
    tried.sweep_llm = ExtractiveLLM()
    assert tried.find().mode == "local"
    assert tried.searched == []


@pytest.mark.parametrize("error", [ModelError("the model is gone"), BudgetError("no room")])
def test_a_failure_keeps_what_the_words_found_and_says_so(error: Exception) -> None:
    tried = Tried(error)
    assert tried.find().mode == "local"
    assert tried.log.warnings == [f"the question's own words were searched for: {error}"]


def test_a_reply_without_keywords_keeps_what_the_words_found() -> None:
    tried = Tried("I cannot.")
    assert tried.find().mode == "local"
    assert tried.searched == []
    assert "named no keywords" in tried.log.warnings[0]


def test_the_prompt_shows_the_question_and_nothing_of_the_graph() -> None:
    prompt = keyword_prompt(QUESTION)
    assert (prompt.user, prompt.nodes) == (f"Question: {QUESTION}", ())
    order = AnswerOrder(
        run=RunOrder(question=QUESTION, graph="g", mapping=GraphMapping(), config=PGSConfig()),
        found=found(mode="local"),
        keywords="model",
    )
    tools: Any = SimpleNamespace(sweep_llm=ScriptedLLM())
    assert not asks_for_keywords(order, tools)  # there is nothing to search again with
