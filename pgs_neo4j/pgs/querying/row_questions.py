"""Recognizes questions that rows of a statement answer, and passages of texts do not."""

from __future__ import annotations

import re

MOST_WORDS = 30
"""Maximum words of a question. Longer ones describe a subject, and figures are only part of it."""
# What a question asks for, and the words by which that is recognized. The first match counts.
_ASKED = (
    ("a count", r"\bhow (?:many|often)\b|^\W*(?:count|(?:what is )?the (?:total )?number of)\b"),
    (
        "what lies between two names",
        r"\bshortest path\b|\b(?:path|connection|link|route)s? between\b"
        r"|\bhow (?:is|are) .+ (?:and|with) .+ (?:connected|linked)\b"
        r"|^\W*what (?:connects|links)\b",
    ),
    (
        "a ranking",
        r"\b(?:top|first|last) (?:\d+|two|three|four|five|ten|twenty)\b"
        r"|\b(?:has|have|with|had|received|got) the (?:most|fewest|highest|lowest|largest|smallest"
        r"|greatest)\b"
        r"|\bthe (?:\d+ )?(?:largest|smallest|highest|lowest|oldest|newest|longest) \d*",
    ),
    (
        "a figure of a group",
        r"^\W*(?:what|show|list|give|find)\b.* (?:average|mean|median|sum|total|minimum|maximum)\b"
        r".* (?:per|by|for each|of each)\b",
    ),
    (
        "a list by a condition",
        r"\b(?:have|has|had|having|with|in|by) (?:no|more than|less than|fewer than|at least"
        r"|at most|exactly) (?:\d|one\b|two\b|three\b|\w+s\b)"
        r"|^\W*which (?:\w+ ){1,2}(?:have|has|had) (?!been\b)"
        r"|^\W*(?:list|show)(?: me)? (?:all|every)(?: the)?(?: \w+){1,2}\W*$",
    ),
)
_PATTERNS = tuple((what, re.compile(pattern, re.IGNORECASE)) for what, pattern in _ASKED)


def find_asked_rows(question: str) -> str:
    """Return what a question asks for that rows answer, in words; empty if it asks for no rows."""
    if len(question.split()) > MOST_WORDS:
        return ""
    return next((what for what, pattern in _PATTERNS if pattern.search(question)), "")
