"""The concurrency limit: grows quickly at first, halves when refused, then grows slowly."""

from pgs_neo4j.calls.concurrency import ConcurrencyLimit


def well(limit, times=1, seconds=1.0, full=True):
    for _ in range(times):
        limit.ended_well(seconds=seconds, length=1.0, full=full)


def test_it_grows_by_one_for_each_call_that_ends_well_up_to_the_ceiling():
    limit = ConcurrencyLimit(5, 12)
    well(limit, 4)
    assert limit.calls == 9
    well(limit, 40)
    assert limit.calls == 12


def test_a_ceiling_below_the_start_holds_from_the_beginning():
    limit = ConcurrencyLimit(5, 2)
    assert limit.calls == 2
    well(limit, 10)
    assert limit.calls == 2


def test_it_does_not_grow_while_nobody_waits():
    limit = ConcurrencyLimit(2, 12)
    well(limit, 10, full=False)
    assert limit.calls == 2


def test_a_refusal_halves_and_then_it_grows_by_one_a_round():
    limit = ConcurrencyLimit(8, 100)
    limit.refused(began=0.0, now=1.0)
    assert limit.calls == 4
    well(limit, 4)
    assert limit.calls == 4
    well(limit, 1)
    assert limit.calls == 5


def test_refusals_of_what_was_sent_before_count_once():
    limit = ConcurrencyLimit(16, 100)
    for _ in range(16):
        limit.refused(began=0.0, now=1.0)
    assert limit.calls == 8
    limit.refused(began=2.0, now=3.0)
    assert limit.calls == 4
    for began in range(3, 20):
        limit.refused(began=float(began), now=began + 0.5)
    assert limit.calls == 1


def test_an_endpoint_that_only_queues_is_not_given_more():
    limit = ConcurrencyLimit(4, 100)
    well(limit, 8)
    reached = limit.calls
    well(limit, 30, seconds=1.8)  # slower, though not twice
    assert reached <= limit.calls <= reached + 4
    well(limit, 60, seconds=5.0)
    assert limit.calls == 4


def test_slowness_never_raises_what_refusals_have_brought_down():
    limit = ConcurrencyLimit(5, 16)
    well(limit, 5)
    for began in (10.0, 20.0, 30.0):
        limit.refused(began, began + 1)
    assert limit.calls == 1
    well(limit, 20, seconds=9.0)
    assert limit.calls == 1
