"""Expressions of crontab(5) as triggers of APScheduler.

APScheduler differs in two places. Its weekdays begin with Monday at 0. And if both a day of the
month and a weekday are set, it requires both to match; crontab requires either.
"""

from __future__ import annotations

import re
import warnings
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from apscheduler.triggers.base import BaseTrigger

WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def trigger(cron: str, timezone: str | None) -> BaseTrigger:
    """Return the trigger of five crontab fields.

    It is in the passed time zone, or the local one. Raises ValueError that describes the fault.
    """
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekday = cron.lower().split()
    either = not (day.startswith("*") or weekday.startswith("*"))
    weekday = _weekdays(weekday)
    zone = None if timezone is None else _zone(timezone)

    def fires(day: str, weekday: str) -> BaseTrigger:
        return CronTrigger(
            minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, timezone=zone
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a machine that names no time zone is in UTC
        fired = OrTrigger([fires(day, "*"), fires("*", weekday)]) if either else fires(day, weekday)
    if fired.get_next_fire_time(None, datetime.now(UTC)) is None:
        raise ValueError("there is no such day")
    return fired


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name}") from error


def _weekdays(text: str) -> str:
    """Return crontab weekdays by their names.

    In crontab, Sunday is 0 and 7.
    """
    if text == "*":
        return text
    days: set[int] = set()
    for part in text.split(","):
        days |= _expanded(part)
    return ",".join(WEEKDAYS[day] for day in sorted(days))


def _expanded(part: str) -> set[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not a day of the week")
    star, first, last, step = match.groups()
    if star:
        begin, end = 0, 6
    else:
        begin = _number(first)
        # A step without an end continues to the end of the week.
        end = _number(last) if last else (6 if step else begin)
        if last and end == 0 < begin:
            end = 7
    width = int(step) if step else 1
    if begin > end or width < 1:
        raise ValueError(f"{part!r} holds no day of the week")
    return {day % 7 for day in range(begin, end + 1, width)}


def _number(word: str) -> int:
    if word in WEEKDAYS:
        return WEEKDAYS.index(word)
    if word.isdecimal() and int(word) <= 7:
        return int(word)
    raise ValueError(f"{word!r} is not a day of the week: use 0 to 7 or sun to sat")
