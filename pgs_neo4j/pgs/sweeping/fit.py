"""Estimates from sizes alone whether one pass shows a whole partition."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN

SURE_SHARE = 0.7  # of a pass; instructions, neighbors, margins, and relationships take the rest
FULL_SHARE = 0.85  # of a pass; longer texts do not fit beside the instructions
STEP = 1000
"""Advised limits are multiples of it. It is also the lowest limit that the settings allow."""


def pass_size(characters: int, tokens: int | None) -> float:
    """Return the estimated tokens of a prompt within both limits."""
    size = characters / BYTES_PER_TOKEN
    return size if tokens is None else min(size, tokens)


def fitting_limit(size: float) -> int:
    """Return the ``max_partition_tokens`` whose partitions one pass shows whole.

    ``size`` is that of a pass.
    """
    return max(STEP, round(SURE_SHARE * size) // STEP * STEP)


def most_tokens(size: float) -> int:
    """Return the tokens of text above which a partition takes several passes."""
    return math.floor(FULL_SHARE * size)


def is_narrower(limit: int, knobs: Mapping[str, object]) -> bool:
    """Return whether ``limit`` would divide partitions further that were made with ``knobs``."""
    made = knobs.get("max_partition_tokens")
    return not isinstance(made, int) or limit < made


def repartition_command(graph: str, limit: int) -> str:
    """Return the command that makes partitions of a graph which one pass shows whole."""
    name = shell_word(graph)
    return f"'pgs partition --graph {name} --force --max-partition-tokens {limit}'"
