"""Marks the parts of a prompt that a provider's prompt cache is asked to hold."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.config.providers import PromptCache
from pgs_neo4j.model import Prompt
from pgs_neo4j.text.tokens import estimate

# No model caches less, and each newer one says its own minimum: 512 to 4,096 tokens. A marked block
# below the minimum is read at the usual price.
LEAST_CACHED_TOKENS = 1_024
CACHE_MARK = "cache_control"

Blocks = list[dict[str, Any]]


def build_blocks(prompt: Prompt, caches: PromptCache) -> tuple[Blocks, Blocks]:
    """Return the blocks of the system text and of the user's text, without empty ones.

    Long blocks that other calls repeat are marked for the cache; what differs comes last.
    """
    stable, rest = prompt.user[: prompt.shared], prompt.user[prompt.shared :]
    system = _block(prompt.system, caches != "none" and _is_cached(prompt.system))
    first = _block(stable, caches == "nodes" and _is_cached(prompt.system + stable))
    user = (first, _block(rest, marked=False))
    return [system] if prompt.system else [], [block for block in user if block["text"]]


def _block(text: str, marked: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, CACHE_MARK: {"type": "ephemeral"}} if marked else block


def _is_cached(prefix: str) -> bool:
    return estimate(prefix) >= LEAST_CACHED_TOKENS
