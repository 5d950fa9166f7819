"""Asks the model for the keywords of a question, once, within the budget of its answer."""

from __future__ import annotations

import re

from pgs_neo4j.errors import ModelError, StoppedError
from pgs_neo4j.llm.protocol import is_free
from pgs_neo4j.model import Found, Prompt, SearchMode
from pgs_neo4j.pgs.answering.asking import ask_once
from pgs_neo4j.pgs.answering.order import AnswerOrder
from pgs_neo4j.pgs.answering.record import AnswerRecord
from pgs_neo4j.pgs.order import RunTools
from pgs_neo4j.text.keywords import MOST, Keywords, extract_keywords
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.text.thinking import strip_thinking

KEYED: tuple[SearchMode, ...] = ("local", "global", "mix", "multipath")
"""Modes that search for keywords instead of all words of the question."""
KEYWORD_ROOM = 300
"""Tokens of the reply."""
LONGEST_KEYWORD = 80

KEYWORD_SYSTEM = f"""\
You name what to look for in a knowledge graph to answer a question. Write two lines and nothing \
else, with at most {MOST} entries each, separated by semicolons, the most important first:
names: things, people, places, and terms that the question names or clearly means
themes: the subjects and relations that it is about
"""
_LINE = re.compile(r"^[ \t*#>-]*(names|themes)[ \t*]*:[ \t*]*(.*)$", re.IGNORECASE | re.MULTILINE)


def asks_for_keywords(order: AnswerOrder, tools: RunTools) -> bool:
    """Whether the model is asked; a reader that costs nothing knows no better than the words."""
    keyed = order.keywords == "model" and order.found.mode in KEYED
    return keyed and order.again is not None and not is_free(tools.keyword_llm)


def keyword_prompt(question: str) -> Prompt:
    """Return the prompt that asks for keywords."""
    return Prompt(
        task="keywords", system=KEYWORD_SYSTEM, user=f"Question: {question}", question=question
    )


async def find_again(order: AnswerOrder, tools: RunTools, record: AnswerRecord) -> Found:
    """Return what a search by the model's keywords finds.

    Where no model is asked, fails, or has no room, what the question's own words found stays.
    Raises DatabaseError.
    """
    if order.again is None or not asks_for_keywords(order, tools):
        return order.found
    try:
        prompt = keyword_prompt(order.run.question)
        reply = await ask_once(order, tools, record, tools.keyword_llm, prompt, KEYWORD_ROOM)
    except (ModelError, StoppedError) as error:
        tools.log.warn(f"the question's own words were searched for: {error}")
        return order.found
    keywords = parse_keywords(reply, order.run.question)
    if keywords is None:
        tools.log.warn("the question's own words were searched for: the model named no keywords")
        return order.found
    return await order.again(keywords)


def parse_keywords(reply: str, question: str) -> Keywords | None:
    """Return the keywords of a reply; None without any.

    Where a line is missing, the question's own words stand in for it.
    """
    found = {name.lower(): _entries(rest) for name, rest in _LINE.findall(strip_thinking(reply))}
    low, high = found.get("names", ()), found.get("themes", ())
    if not (low or high):
        return None
    own = extract_keywords(question)
    return Keywords(low or own.low, high or own.high)


def _entries(line: str) -> tuple[str, ...]:
    entries = (
        one_line(entry.strip(" .*_`\"'"), LONGEST_KEYWORD).lower() for entry in line.split(";")
    )
    told = [entry for entry in entries if entry and entry not in ("none", "n/a")]
    return tuple(dict.fromkeys(told))[:MOST]
