"""What one pass holds, from settings alone."""

from __future__ import annotations

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.sweeping.fit import fitting_limit, most_tokens, pass_size


def test_the_default_limit_of_partitions_is_what_the_default_pass_holds() -> None:
    config = PGSConfig()
    size = pass_size(config.max_pass_characters, config.max_pass_tokens)
    assert fitting_limit(size) == config.max_partition_tokens
    assert most_tokens(size) > config.max_partition_tokens


def test_a_context_of_128000_tokens_holds_partitions_of_the_default_limit() -> None:
    size = pass_size(500_000, 128_000 - PGSConfig().sweep_max_tokens)
    assert most_tokens(size) > PGSConfig().max_partition_tokens


@pytest.mark.parametrize(
    ("characters", "tokens", "limit"),
    [(500_000, 26_000, 18_000), (70_000, None, 14_000), (6000, 2000, 1000), (6000, None, 1000)],
)
def test_the_smaller_limit_of_a_pass_decides(
    characters: int, tokens: int | None, limit: int
) -> None:
    assert fitting_limit(pass_size(characters, tokens)) == limit
