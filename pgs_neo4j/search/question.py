"""Recognizes broad questions, and the form that an answer should begin with."""

from __future__ import annotations

import re

# Such questions ask for everything, so similarity to single centroids would mislead.
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
    """Return whether a question is comprehensive or open-ended, by one of the patterns."""
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
"""How to begin an answer, by the words of its question. The kinds of question are those of the
FalkorDB GraphRAG SDK."""


def answer_form(question: str) -> str:
    """Return the instruction for an answer's beginning, empty if no pattern matches."""
    return next((form for pattern, form in FORMS if pattern.search(question)), "")
