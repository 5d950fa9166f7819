"""Describes the order of an answer from a search, as it is stored and restored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pgs_neo4j.config import CONTEXT_TOKENS, SHAPING, PGSConfig, SearchDefaults
from pgs_neo4j.model import Found, KeywordSource, RerankerName
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.text.keywords import Keywords


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOrder:
    """A question, what a search found for it, and how long its context may be.

    ``run`` has the graph, the session, and the knobs. Without ``partitioned``, the graph has no
    partitions, or only those of another definition. ``again`` searches for other ``keywords`` than
    the question's own words. For the reranker ``model``, ``found`` has more nodes than the
    ``top_k`` that are wanted; None: all are.
    """

    run: RunOrder
    found: Found
    partitioned: bool = True
    keywords: KeywordSource = "words"
    rerank: RerankerName | None = None
    top_k: int | None = None
    again: Callable[[Keywords], Awaitable[Found]] | None = None
    max_context_tokens: int = CONTEXT_TOKENS


def describe_search(
    question: str, wanted: SearchDefaults, model: str, config: PGSConfig, sessions_of: str = ""
) -> dict[str, object]:
    """Return the data that distinguishes a request for an answer from others.

    ``sessions_of`` is how the names of sessions begin whose runs may be shown.
    """
    return {
        **({"sessions_of": sessions_of} if sessions_of else {}),
        "question": question,
        "search": wanted.model_dump(mode="json"),
        "models": [model],
        "knobs": config.model_dump(mode="json", include=set(SHAPING)),
    }


def restore_search(stored: dict[str, object]) -> SearchDefaults:
    """Return how a stored request searched."""
    return SearchDefaults.model_validate(stored)
