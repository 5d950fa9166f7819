"""Estimates from sizes alone whether one pass shows a whole partition."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN

# Texts up to this share of a pass surely fit into it. Instructions, neighbors, margins, and
# relationships need the rest.
SURE_SHARE = 0.7
# Texts above this share of a pass surely do not fit beside the instructions.
FULL_SHARE = 0.85
STEP = 1000
"""Advised limits are multiples of this. It is also the lowest limit that the settings allow."""


def pass_size(characters: int, tokens: int | None) -> float:
    """Return the maximum estimated tokens of a prompt within limits on characters and tokens."""
    size = characters / BYTES_PER_TOKEN
    return size if tokens is None else min(size, tokens)


def fitting_limit(size: float) -> int:
    """Return the ``max_partition_tokens`` for which one pass shows a whole partition.

    ``size`` is the size of a pass in estimated tokens.
    """
    return max(STEP, round(SURE_SHARE * size) // STEP * STEP)


def most_tokens(size: float) -> int:
    """Return the tokens of text above which a partition needs several passes of ``size``."""
    return math.floor(FULL_SHARE * size)


def is_narrower(limit: int, knobs: Mapping[str, object]) -> bool:
    """Return whether ``limit`` is lower than the limit that partitions were made with.

    ``knobs`` are the settings of these partitions.
    """
    made = knobs.get("max_partition_tokens")
    return not isinstance(made, int) or limit < made


def repartition_command(graph: str, limit: int) -> str:
    """Return the command that repartitions a graph with ``limit`` as ``max_partition_tokens``."""
    name = shell_word(graph)
    return f"'pgs partition --graph {name} --force --max-partition-tokens {limit}'"
