"""Crontab expressions mean what crontab(5) says, not what APScheduler reads."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pgs_neo4j.engine.schedule import trigger

WEDNESDAY = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def times(cron: str, count: int = 1) -> list[str]:
    """When it fires after a Wednesday noon: month-day hour:minute, weekday."""
    made, found, now, last = trigger(cron, "UTC"), [], WEDNESDAY, None
    for _ in range(count):
        now = last = made.get_next_fire_time(last, now)
        found.append(f"{now:%m-%d %H:%M %a}")
    return found


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("17 3 * * *", "07-02 03:17 Thu"),
        ("*/20 * * * *", "07-01 12:00 Wed"),
        ("0 0 * * 0", "07-05 00:00 Sun"),
        ("0 0 * * 7", "07-05 00:00 Sun"),
        ("0 0 * * 1", "07-06 00:00 Mon"),
        ("0 0 * * SAT", "07-04 00:00 Sat"),
        ("0 0 * * 1-5", "07-02 00:00 Thu"),
        ("0 0 * * fri-sun", "07-03 00:00 Fri"),
        ("0 0 * * 5-7", "07-03 00:00 Fri"),
        ("0 0 * * */6", "07-04 00:00 Sat"),
        ("0 0 * * 2/2", "07-02 00:00 Thu"),
        ("0 0 * jan 1,2", "01-04 00:00 Mon"),
        ("30 6 1 jan *", "01-01 06:30 Fri"),
        # A star with a step restricts the other field of days.
        ("0 0 */2 * 5", "07-03 00:00 Fri"),
        ("0 0 6 * */1", "07-06 00:00 Mon"),
    ],
)
def test_one_expression(cron: str, expected: str) -> None:
    assert times(cron) == [expected]


def test_a_day_of_the_month_and_a_weekday_are_either() -> None:
    assert times("0 0 4 * 5", 3) == ["07-03 00:00 Fri", "07-04 00:00 Sat", "07-10 00:00 Fri"]


def test_the_clock_is_that_of_a_time_zone_that_there_is_or_of_the_machine() -> None:
    made = trigger("0 3 * * *", "America/New_York")
    assert made.get_next_fire_time(None, WEDNESDAY).astimezone(UTC).hour == 7
    found = trigger("0 3 * * *", None).get_next_fire_time(None, WEDNESDAY)
    assert (found.hour, found.minute) == (3, 0)
    assert found.utcoffset() is not None
    for name in ("Nowhere/At_All", "../etc/passwd", "/etc/passwd"):
        with pytest.raises(ValueError, match="there is no time zone"):
            trigger("0 3 * * *", name)


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("61 3 * * *", "61"),
        ("x * * * *", "minute"),
        ("* * * * 8", "'8' is not a day of the week"),
        ("* * * * noday", "not a day of the week"),
        ("* * * * 5-1", "ends before it begins"),
        ("* * * * */0", "step of .* higher than 0"),
        ("* * * * mon!", "not a day of the week"),
        ("0 0 30 2 *", "there is no such day"),
        ("*/0 * * * *", "higher than 0"),
    ],
)
def test_what_cannot_be_kept_is_refused(cron: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        trigger(cron, "UTC")
