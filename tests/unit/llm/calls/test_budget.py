"""The budget: nothing is begun that could cross a bound, and what was not used counts again."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import pytest

from pgs_neo4j.config.models_table import ModelEntry, entries
from pgs_neo4j.errors import (
    BudgetError,
    ConfigError,
    DatabaseError,
    DeadlineError,
    ModelOutputError,
    ModelUnavailableError,
    PromptTooLongError,
    StoppedError,
)
from pgs_neo4j.llm.calls.budget import Amount, Budget, SpendingLimits, Stop, StopKind
from pgs_neo4j.llm.calls.outcome import noting_end
from pgs_neo4j.model import Usage

PRICES = {"m": ModelEntry(input_price=1.0, output_price=10.0)}


def test_a_call_that_could_cross_the_bound_is_not_begun():
    budget = Budget(SpendingLimits(tokens=30_000), {})
    amount = budget.most("m", 1000, 500)
    assert amount.tokens >= 3500 + 500  # a token for each byte, while nothing is known
    for _ in range(7):
        budget.reserve(amount)
    with pytest.raises(BudgetError, match=r"30,000 tokens \(max_tokens\)"):
        budget.reserve(amount)
    budget.release(amount)
    assert not budget.knows("m")
    budget.spend("m", 1000, Usage(calls=1, input_tokens=1000, output_tokens=100))
    assert budget.knows("m")
    assert not budget.knows("other")
    assert Budget(SpendingLimits(calls=5), {}).knows("m")
    assert budget.spent.tokens == 1100
    assert budget.most("m", 1000, 500).tokens < amount.tokens  # the ratio is known now
    small = Budget(SpendingLimits(tokens=3100), {})  # it does not take each byte for a token
    reserved = small.reserve(small.most("m", 1000, 500))
    assert small.reserved == reserved
    assert reserved.tokens < amount.tokens


def test_the_costliest_prompt_so_far_decides_what_is_set_aside():
    budget = Budget(SpendingLimits(tokens=10**6), {})
    for used in (1000, 2500, 900):
        budget.spend("m", 1000, Usage(calls=1, input_tokens=used))
    assert budget.most("m", 1000, 0).tokens >= 3250
    assert budget.most("other", 1000, 0).tokens >= 3500


def test_calls_and_cost_are_bounds_and_what_the_end_takes_is_held_back():
    budget = Budget(SpendingLimits(calls=1), {})
    budget.reserve(Amount(1, 10))
    with pytest.raises(BudgetError, match=r"1 call \(max_calls\)"):
        budget.reserve(Amount(1, 10))
    budget = Budget(SpendingLimits(cost=0.01), PRICES)
    dear = budget.most("m", 100, 1000)
    assert dear.cost > 0.01
    with pytest.raises(BudgetError, match=r"a cost of 0.01 \(max_cost\)"):
        budget.reserve(dear)
    budget = Budget(SpendingLimits(calls=2), {}, ending=Amount(1, 0))
    budget.reserve(Amount(1, 0))
    with pytest.raises(BudgetError):
        budget.reserve(Amount(1, 0))
    budget.reserve(Amount(1, 0), "synthesis")


def test_the_cost_is_known_and_can_be_bounded_only_with_every_price():
    budget = Budget(SpendingLimits(), PRICES)
    budget.spend("m", 10, Usage(calls=1, input_tokens=1_000_000, output_tokens=100_000))
    assert budget.cost == pytest.approx(2.0)
    budget.spend("free", 10, Usage(calls=1, input_tokens=5), free=True)
    assert budget.cost == pytest.approx(2.0)
    budget.spend("other", 10, Usage(calls=1, input_tokens=5))
    assert budget.cost is None
    Budget(SpendingLimits(cost=1.0), PRICES).check({"m": False, "extractive": True})
    with pytest.raises(ConfigError, match=r"needs the price of other; .*\[models\.'other'\]"):
        Budget(SpendingLimits(cost=1.0), PRICES).check({"m": False, "other": False})


@pytest.mark.parametrize(
    ("cached", "stored", "cost"),
    [(0, 0, 1.0), (600_000, 0, 0.46), (0, 600_000, 1.15), (600_000, 400_000, 0.56)],
)
def test_a_call_is_reserved_at_the_dearest_price_and_settled_as_billed(cached, stored, cost):
    prices = ModelEntry(
        input_price=1.0, output_price=10.0, cached_input_price=0.1, cache_write_price=1.25
    )
    budget = Budget(SpendingLimits(cost=100.0), {"m": prices})
    amount = budget.most("m", 1_000_000, 100)
    assert amount.cost == pytest.approx((1.25 * (amount.tokens - 100) + 10 * 100) / 1e6)
    budget.release(budget.reserve(amount))
    usage = Usage(
        calls=1, input_tokens=1_000_000, cache_read_tokens=cached, cache_write_tokens=stored
    )
    assert budget.spend("m", 1_000_000, usage) == pytest.approx(cost)
    assert budget.cost == pytest.approx(cost)


def test_a_prompt_that_may_be_long_is_reserved_at_the_long_prices():
    prices = ModelEntry(
        input_price=1.0, output_price=10.0, long_prompt_tokens=10_000, long_input_price=2.0
    )
    budget = Budget(SpendingLimits(cost=0.02), {"m": prices})
    short, may_be_long = budget.most("m", 1_000, 10), budget.most("m", 5_000, 10)
    assert short.cost == pytest.approx((short.tokens - 10 + 100) / 1e6)
    assert may_be_long.cost == pytest.approx((2 * (may_be_long.tokens - 10) + 100) / 1e6)
    assert budget.left("m") == 2_000  # 0.02 at the price of output, by far the dearest


def test_what_is_left_bounds_the_last_call():
    budget = Budget(SpendingLimits(tokens=10_000), PRICES)
    budget.spend("m", 1000, Usage(calls=1, input_tokens=1000, output_tokens=1000))
    assert budget.left("m") == 8000
    assert budget.estimate_within("m", 3000) < 3000
    fits = budget.estimate_within("m", 3000)
    assert budget.most("m", fits, 500).tokens <= 3500
    assert Budget(SpendingLimits(cost=0.001), PRICES).left("m") == 100
    assert Budget(SpendingLimits(calls=1), {}, spent=Amount(1, 5)).left("m") == 0


def test_entries_of_models_are_read_and_refused_by_name():
    found = entries({"gpt-5": {"input_price": 1.25, "output_price": 10, "context": 400_000}})
    assert found["gpt-5"].cost(1_000_000, 100_000) == pytest.approx(2.25)
    assert ModelEntry(context=4000).cost(1, 1) is None
    for wrong, said in [
        ([], r"\[models.NAME\]"),
        ({"m": 3}, r"\[models.m\]"),
        ({"m": {"price": 3}}, "models.m.price is unknown"),
        ({"m": {"input_price": -3}}, "models.m.input_price must be at least 0"),
    ]:
        with pytest.raises(ConfigError, match=said):
            entries(wrong)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DeadlineError("no time for this budget"), StopKind.DEADLINE),
        (BudgetError("no money"), StopKind.BUDGET),
    ],
)
def test_a_stop_keeps_kind_and_text_of_its_error(error: StoppedError, kind: StopKind) -> None:
    stop = Stop.from_error(error)
    assert stop == Stop(kind, str(error))
    again = stop.to_error("nothing was read: ")
    assert type(again) is type(error)
    assert str(again) == f"nothing was read: {error}"
    assert pickle.loads(pickle.dumps(stop)) == stop


@dataclass(slots=True)
class Told:
    stopped: str = ""
    error: str = ""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelOutputError("cut off"), Told()),
        (PromptTooLongError("too long"), Told()),
        (BudgetError("max_calls"), Told(stopped="max_calls")),
        (ModelUnavailableError("gone"), Told(error="gone")),
    ],
)
def test_the_end_of_calls_is_noted_and_an_error_of_the_database_is_not_caught(
    error: Exception, told: Told
) -> None:
    noted = Told()
    with noting_end(noted):
        raise error
    assert noted == told
    with pytest.raises(DatabaseError, match="away"), noting_end(noted):
        raise DatabaseError("away")
