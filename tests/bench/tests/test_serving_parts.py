"""The parts of the benchmark of the server: what counts as a fault, and what as growth."""

from __future__ import annotations

import pytest

from tests.bench.callers import Heard, faults_of
from tests.bench.serving import growth_of, p95
from tests.serving import Told


def told(*ids: int, last: str = "answered") -> list[Told]:
    return [*(Told(one, "usage", {}) for one in ids[:-1]), Told(ids[-1], last, {})]


@pytest.mark.parametrize(
    ("listed", "faults"),
    [
        (told(1, 2, 3), []),
        (told(1, 3), ["a gap"]),
        (told(2, 3), ["a gap"]),
        (told(1, 2, 2, 3), ["a repeat"]),
        (told(1, 2, last="failed"), ["ended by failed"]),
        ([], ["ended by nothing"]),
    ],
)
def test_gaps_repeats_and_other_ends_are_faults(listed: list[Told], faults: list[str]) -> None:
    assert faults_of(listed) == faults


def test_what_was_heard_is_counted() -> None:
    heard = Heard()
    heard.judge(told(1, 2))
    heard.judge(told(1, 3, last="failed"))
    assert (heard.answered, heard.events) == (1, 4)
    assert heard.faults == {"a gap": 1, "ended by failed": 1}


def test_the_memory_after_the_first_minute_counts() -> None:
    looks = [(float(at), 100.0 + 10 * min(at, 60)) for at in range(181)]
    assert growth_of(looks) == 0.0
    grown = [(float(at), 100.0 + max(0, at - 60)) for at in range(181)]
    assert growth_of(grown) == pytest.approx(1.0, abs=0.1)


def test_a_share_of_the_times_is_within_p95() -> None:
    assert p95([float(one) for one in range(101)]) == 95.0
