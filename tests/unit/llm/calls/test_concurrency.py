"""The concurrency limit: grows quickly at first, halves when refused, then grows slowly."""

from pgs_neo4j.llm.calls.concurrency import ConcurrencyLimit


def well(limit, times=1, seconds=1.0, full=True):
    for _ in range(times):
        limit.ended_well(seconds=seconds, length=1.0, full=full)


def test_it_grows_by_one_for_each_good_call_up_to_the_ceiling_while_others_wait():
    limit = ConcurrencyLimit(5, 12)
    well(limit, 4)
    assert limit.calls == 9
    well(limit, 40)
    assert limit.calls == 12
    for limit, full in ((ConcurrencyLimit(5, 2), True), (ConcurrencyLimit(2, 12), False)):
        assert limit.calls == 2
        well(limit, 10, full=full)
        assert limit.calls == 2


def test_a_refusal_halves_once_for_all_sent_before_and_then_it_grows_by_one_a_round():
    limit = ConcurrencyLimit(8, 100)
    limit.refused(began=0.0, now=1.0)
    assert limit.calls == 4
    well(limit, 4)
    assert limit.calls == 4
    well(limit, 1)
    assert limit.calls == 5
    limit = ConcurrencyLimit(16, 100)
    for _ in range(16):
        limit.refused(began=0.0, now=1.0)
    assert limit.calls == 8
    limit.refused(began=2.0, now=3.0)
    assert limit.calls == 4
    for began in range(3, 20):
        limit.refused(began=float(began), now=began + 0.5)
    assert limit.calls == 1


def test_an_endpoint_that_only_queues_is_not_given_more_nor_one_that_refused():
    limit = ConcurrencyLimit(4, 100)
    well(limit, 8)
    reached = limit.calls
    well(limit, 30, seconds=1.8)  # slower, though not twice
    assert reached <= limit.calls <= reached + 4
    well(limit, 60, seconds=5.0)
    assert limit.calls == 4
    limit = ConcurrencyLimit(5, 16)
    well(limit, 5)
    for began in (10.0, 20.0, 30.0):
        limit.refused(began, began + 1)
    assert limit.calls == 1
    well(limit, 20, seconds=9.0)
    assert limit.calls == 1
