"""Replies of readers that run in this process: usage and pieces."""

from __future__ import annotations

import re

from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.text.tokens import estimate

DELTA_CHARACTERS = 24

_PIECE = re.compile(rf".{{{DELTA_CHARACTERS},}}?\s+|.+", re.DOTALL)


def split_reply(text: str) -> list[str]:
    """Yield pieces of about 24 characters, cut after white space.

    Joined, they are ``text``.
    """
    return _PIECE.findall(text)


def local_completion(prompt: Prompt, text: str, model: str) -> Completion:
    """Return a completion whose usage is estimated from the texts."""
    usage = Usage(
        calls=1,
        input_tokens=estimate(prompt.system) + estimate(prompt.user),
        output_tokens=estimate(text),
        estimated=True,
    )
    return Completion(text=text, usage=usage, model=model)
