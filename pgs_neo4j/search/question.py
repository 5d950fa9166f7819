"""Recognizes questions about everything there is."""

from __future__ import annotations

import re

# Questions that ask for everything: similarity to one centroid would mislead.
BROAD = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(full|complete|entire|whole)\s+(sweep|scan|coverage|graph|picture|read(ing)?)\b",
        r"\b(comprehensive|exhaustive|complete|overall|broad|high[- ]level)\s+"
        r"(overview|summary|survey|review|analysis|map|account|picture)\b",
        r"(?:^|[.!?])\W*what\b.*"
        r"\b(gaps?|missing|absent|lacking|unexplored|blind spots?|not covered)\b",
        r"\b(across|over|throughout|in)\s+(all|every|the\s+(whole|entire))\b",
        r"\b(everything|all)\s+(about|that|there\s+is|we\s+know|you\s+know|in\s+(here|this))\b",
        r"\b(main|key|major|central|recurring|common|overarching)\s+"
        r"(themes?|topics?|threads?|patterns?|findings|insights|ideas|connections)\b",
    )
)


def is_broad(question: str) -> bool:
    """Return whether one of six patterns identifies a comprehensive or open-ended question."""
    return any(pattern.search(question) for pattern in BROAD)


FORMS = (
    (re.compile(r"\bhow (?:many|much|often)\b", re.IGNORECASE), "Begin with the number."),
    (re.compile(r"\bwhen\b|\bwhat (?:year|date|day)\b", re.IGNORECASE), "Begin with the time."),
    (re.compile(r"\bwhere\b", re.IGNORECASE), "Begin with the place."),
    (re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE), "Begin with who it is."),
    (
        re.compile(
            r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)\b",
            re.IGNORECASE,
        ),
        "Begin with yes or no.",
    ),
)
"""The form of an answer by the question's words (FalkorDB GraphRAG SDK, published kinds)."""


def answer_form(question: str) -> str:
    """Return how the answer to a question begins, empty if its words do not tell."""
    return next((form for pattern, form in FORMS if pattern.search(question)), "")
