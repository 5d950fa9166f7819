"""The tokens that prompts are likely to have, and those that they may have."""

from __future__ import annotations

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.model import Prompt
from pgs_neo4j.text.tokens import estimate


def input_room(entry: ModelEntry | None, most: int | None, room: int) -> int | None:
    """Return the most input tokens beside ``room`` for a reply; None without a limit.

    ``most`` is the configured limit, and ``entry`` may have the context of a model.
    """
    if entry is None or entry.context is None:
        return most
    fits = max(entry.context - room, entry.context // 2)
    return fits if most is None else min(most, fits)


def estimated_tokens(prompt: Prompt) -> int:
    """Tokens that a prompt is likely to have."""
    return estimate(prompt.system) + estimate(prompt.user)
