"""Answers from the context of a search with quotes of the nodes that it shows."""

from __future__ import annotations

from pgs_neo4j.llm.extractive.scoring import Reading, best, name_of, read
from pgs_neo4j.llm.extractive.search import LEAD
from pgs_neo4j.model import Prompt
from pgs_neo4j.text.words import stem, words

NONE = "None."


def found_answer(prompt: Prompt, bullets: int) -> str:
    """Return the three sections: what it is, quotes with citations, and words in no node."""
    reading = read(prompt)
    quotes = best(reading, bullets)
    findings = [f"- {quoted.line}" for quoted in quotes]
    nearest = "; ".join(f"{name_of(node)} [{node.alias}]" for node in reading.nodes[:bullets])
    answer = quotes[0].line if quotes else f"The nearest nodes are {nearest}." if nearest else NONE
    missing = [f"- “{word}”" for word in _missing(prompt, reading)[:bullets]]
    parts = (
        ("Answer", [LEAD, "", answer]),
        ("Findings", findings or [NONE]),
        ("Not found", missing or [NONE]),
    )
    return "\n\n".join("\n".join((f"## {title}", *lines)) for title, lines in parts)


def _missing(prompt: Prompt, reading: Reading) -> list[str]:
    """Return the words of the question that no node holds, as they are written."""
    asked = {stem(word): word for word in reversed(words(prompt.question))}
    return [
        asked[term] for term in reading.terms.stems if term in asked and not reading.holders(term)
    ]
