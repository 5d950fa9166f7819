"""Answers a top-k search with the best sentences of its nodes."""

from __future__ import annotations

from pgs_neo4j.llm.extractive.scoring import best, name_of, read
from pgs_neo4j.model import Prompt

LEAD = "Extracted without a language model: quoted from the nodes found, not reasoned over."


def search_answer(prompt: Prompt, bullets: int) -> str:
    """Return quotes with citations, or the nodes' names if no quote fits."""
    reading = read(prompt)
    if not reading.nodes:
        return f"{LEAD} No node was found."
    quotes = best(reading, bullets)
    if quotes:
        return "\n".join((LEAD, "", *(f"- {quoted.line}" for quoted in quotes)))
    nearest = "; ".join(f"{name_of(node)} [{node.alias}]" for node in reading.nodes[:bullets])
    return f"{LEAD} No sentence of theirs holds the question's words; the nearest are {nearest}."
