"""What calls cost by the prices of their model: cached, stored, and long prompts."""

from __future__ import annotations

import pytest

from pgs_neo4j.config.models_table import ModelEntry, entries
from pgs_neo4j.errors import ConfigError

PLAIN = ModelEntry(input_price=2.0, output_price=10.0)
CACHED = ModelEntry(input_price=2.0, output_price=10.0, cached_input_price=0.5)
STORED = ModelEntry(
    input_price=2.0, output_price=10.0, cached_input_price=0.2, cache_write_price=2.5
)
LONG = ModelEntry(
    input_price=2.0, output_price=10.0, cached_input_price=0.2, cache_write_price=2.5,
    long_prompt_tokens=200_000, long_input_price=4.0, long_output_price=15.0,
)  # fmt: skip
FREE_CACHE = ModelEntry(input_price=2.0, output_price=10.0, cached_input_price=0.0)
LONG_OUTPUT = ModelEntry(
    input_price=2.0, output_price=10.0, long_prompt_tokens=100, long_output_price=20.0
)
FREE_SHORT = ModelEntry(
    input_price=0.0, output_price=0.0, long_prompt_tokens=100, long_input_price=3.0
)
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("entry", "read", "written", "cached", "stored", "cost"),
    [
        (PLAIN, 100_000, 10_000, 0, 0, 0.2 + 0.1),
        (PLAIN, 100_000, 10_000, 60_000, 20_000, 0.2 + 0.1),  # no other price: as all input
        (CACHED, 100_000, 10_000, 60_000, 0, 0.08 + 0.03 + 0.1),
        (CACHED, 100_000, 0, 60_000, 20_000, 0.04 + 0.03 + 0.04),  # stored at the input price
        (STORED, 100_000, 10_000, 60_000, 20_000, 0.04 + 0.012 + 0.05 + 0.1),
        (STORED, 100_000, 0, 100_000, 0, 0.02),
        (STORED, 100_000, 0, 0, 100_000, 0.25),
        (STORED, 0, 10_000, 0, 0, 0.1),
        (FREE_CACHE, 100_000, 0, 100_000, 0, 0.0),
        (LONG, 200_000, 10_000, 0, 0, 0.4 + 0.1),  # just not a long one
        (LONG, 200_001, 10_000, 0, 0, 4 * 0.200001 + 0.15),
        (LONG, 300_000, 10_000, 200_000, 50_000, 0.2 + 0.08 + 0.25 + 0.15),  # in proportion
        (LONG_OUTPUT, 101, 100_000, 0, 0, 0.000202 + 2.0),
        (FREE_SHORT, 100, 5, 50, 0, 0.0),
        (FREE_SHORT, 1_000_000, 5, 50, 0, 3.0),
        (STORED, 100, 0, 10**18, 10**18, 100 * 0.2 / MILLION),  # never more than there is
        (STORED, 100, 0, -5, -5, 100 * 2.0 / MILLION),
        (ModelEntry(input_price=1.0), 1, 1, 0, 0, None),
    ],
)
def test_a_call_costs_what_becomes_of_its_tokens(
    entry: ModelEntry, read: int, written: int, cached: int, stored: int, cost: float | None
) -> None:
    billed = entry.cost(read, written, cached=cached, stored=stored)
    assert billed == (None if cost is None else pytest.approx(cost, rel=1e-12))
    dearest, cheapest = entry.dearest(read, written), entry.cheapest(read, written)
    if billed is None or dearest is None or cheapest is None:
        assert (billed, dearest, cheapest) == (None, None, None)
    else:
        assert cheapest <= billed * (1 + 1e-12)
        assert billed <= dearest * (1 + 1e-12)


@pytest.mark.parametrize(
    ("entry", "read", "written", "longest", "dearest"),
    [
        (PLAIN, 100_000, 10_000, None, 0.3),
        (CACHED, 100_000, 10_000, None, 0.3),
        (STORED, 100_000, 10_000, None, 0.35),
        (LONG, 100_000, 10_000, None, 0.35),
        (LONG, 300_000, 10_000, None, 1.5 + 0.15),
        (LONG, 300_000, 10_000, 100_000, 0.75 + 0.1),  # several prompts, none of them long
    ],
)
def test_the_dearest_price_counts_before_a_call(
    entry: ModelEntry, read: int, written: int, longest: int | None, dearest: float
) -> None:
    assert entry.dearest(read, written, longest) == pytest.approx(dearest)


def test_the_cheapest_price_may_be_that_of_cached_input() -> None:
    assert LONG.cheapest(100_000, 0) == pytest.approx(0.02)
    assert LONG.cheapest(100_000, 10_000, may_be_cached=False) == pytest.approx(0.2 + 0.1)
    assert FREE_SHORT.cheapest(100_000, 0, may_be_cached=False) == 0.0


def test_calls_of_equal_size_are_long_by_the_size_of_one() -> None:
    assert LONG.cost(400_000, 0, calls=4) == pytest.approx(0.8)
    assert LONG.cost(400_000, 0, calls=1) == pytest.approx(1.6)


@pytest.mark.parametrize(
    ("entry", "money", "tokens"),
    [
        (PLAIN, 1.0, 100_000),
        (LONG, 1.0, 100_000),
        (LONG, 2.5, 200_000),  # 250,000 at the short prices, 166,667 at the long ones
        (LONG, 6.0, 400_000),
        (FREE_SHORT, 3.0, 1_000_000),
        (FREE_SHORT, 0.0, 100),
        (ModelEntry(input_price=2.0, output_price=1.0, cache_write_price=4.0), 1.0, 250_000),
        (ModelEntry(input_price=0.0, output_price=0.0), 1.0, None),
        (ModelEntry(), 1.0, None),
    ],
)
def test_money_buys_as_many_tokens_as_at_the_dearest_price(
    entry: ModelEntry, money: float, tokens: int | None
) -> None:
    found = entry.affordable_tokens(money)
    assert found == (None if tokens is None else pytest.approx(tokens))
    if found is not None:
        for read in (0, found / 2, found):
            spent = entry.dearest(read, found - read)
            assert spent is not None
            assert spent <= money * (1 + 1e-9)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"cached_input_price": 1}, "models.m: cached_input_price needs input_price"),
        ({"cache_write_price": 1, "output_price": 2}, "cache_write_price needs input_price"),
        (
            {"input_price": 1, "output_price": 2, "long_input_price": 2},
            "long_input_price needs long_prompt_tokens, the input tokens above which it counts",
        ),
        (
            {"input_price": 1, "output_price": 2, "long_output_price": 2},
            "long_output_price needs long_prompt_tokens",
        ),
        (
            {"input_price": 1, "long_prompt_tokens": 9, "long_output_price": 2},
            "long_output_price needs output_price",
        ),
        (
            {"input_price": 1, "output_price": 2, "long_prompt_tokens": 200_000},
            "models.m: long_prompt_tokens needs long_input_price or long_output_price",
        ),
        ({"long_prompt_tokens": 0}, "models.m.long_prompt_tokens must be at least 1"),
        (
            {"input_price": 1, "cached_input_price": -1},
            "models.m.cached_input_price must be at least 0",
        ),
    ],
)
def test_prices_that_rest_on_missing_ones_are_refused_in_one_sentence(
    keys: dict[str, float], said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        entries({"m": keys})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
