"""The tokens that prompts are likely to have."""

from __future__ import annotations

from pgs_neo4j.model import Prompt
from pgs_neo4j.text.tokens import estimate


def estimated_tokens(prompt: Prompt) -> int:
    """Tokens that a prompt is likely to have."""
    return estimate(prompt.system) + estimate(prompt.user)
