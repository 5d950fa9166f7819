"""What a call used, as its endpoint counted it or as its texts suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.llm.openai.wire import ReplyUsage
from pgs_neo4j.model import Prompt, Usage
from pgs_neo4j.model.ceilings import BYTES_PER_TOKEN
from pgs_neo4j.text.tokens import estimate


@dataclass(frozen=True, slots=True)
class CountedUsage:
    """The usage of a call; ``doubted``: the endpoint reported one that cannot be."""

    usage: Usage
    doubted: bool = False


def count_usage(prompt: Prompt, text: str, reported: ReplyUsage | None) -> CountedUsage:
    """Return the reported usage, with an estimate in place of every count that cannot be.

    An estimated prompt counts as read without the provider's cache.
    """
    asked = prompt.system + prompt.user
    read, written = estimate(asked), estimate(text)
    if reported is None:
        return CountedUsage(_usage(read, written, estimated=True))
    believed = (
        _is_believable(reported.prompt_tokens, asked),
        _is_believable(reported.completion_tokens, text),
    )
    usage = _usage(
        reported.prompt_tokens if believed[0] else read,
        reported.thought + (reported.completion_tokens if believed[1] else written),
        estimated=not all(believed),
    )
    if believed[0]:
        usage = replace(
            usage, cache_read_tokens=reported.cached, cache_write_tokens=reported.stored
        )
    return CountedUsage(usage, doubted=not all(believed))


def count_read(texts: Sequence[str], reported: int | None) -> Usage:
    """Return what a call without a written reply used; an estimate if that cannot be."""
    if reported is not None and _is_believable(reported, "".join(texts)):
        return _usage(reported, 0, estimated=False)
    return _usage(sum(map(estimate, texts)), 0, estimated=True)


def _is_believable(tokens: int, text: str) -> bool:
    return tokens * BYTES_PER_TOKEN >= len(text.encode("utf-8", "replace"))


def _usage(read: int, written: int, *, estimated: bool) -> Usage:
    return Usage(calls=1, input_tokens=read, output_tokens=written, estimated=estimated)
