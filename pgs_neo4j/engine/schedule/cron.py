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
    """Return a trigger for five crontab fields, in a time zone; None means the local one.

    Raises ValueError, which describes the fault.
    """
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekday = cron.lower().split()
    either = not (day.startswith("*") or weekday.startswith("*"))
    weekday = _name_weekdays(weekday)
    zone = None if timezone is None else _find_zone(timezone)

    def fire_on(day: str, weekday: str) -> BaseTrigger:
        return CronTrigger(
            minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, timezone=zone
        )

    with warnings.catch_warnings():
        # A machine that names no time zone is in UTC, which causes a warning.
        warnings.simplefilter("ignore")
        result = (
            OrTrigger([fire_on(day, "*"), fire_on("*", weekday)])
            if either
            else fire_on(day, weekday)
        )
    if result.get_next_fire_time(None, datetime.now(UTC)) is None:
        raise ValueError("there is no such day")
    return result


def _find_zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name}") from error


def _name_weekdays(text: str) -> str:
    """Return the names of crontab weekdays. In crontab, both 0 and 7 are Sunday."""
    if text == "*":
        return text
    days: set[int] = set()
    for part in text.split(","):
        days |= _expand_weekdays(part)
    return ",".join(WEEKDAYS[day] for day in sorted(days))


def _expand_weekdays(part: str) -> set[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not a day of the week")
    star, first, last, step = match.groups()
    if star:
        begin, end = 0, 6
    else:
        begin = _parse_weekday(first)
        # A step without an end continues to the end of the week.
        end = _parse_weekday(last) if last else (6 if step else begin)
        # A range may end on Sunday, which then is day 7.
        if last and end == 0 < begin:
            end = 7
    width = int(step) if step else 1
    if begin > end or width < 1:
        raise ValueError(f"{part!r} holds no day of the week")
    return {day % 7 for day in range(begin, end + 1, width)}


def _parse_weekday(word: str) -> int:
    if word in WEEKDAYS:
        return WEEKDAYS.index(word)
    if word.isdecimal() and int(word) <= 7:
        return int(word)
    raise ValueError(f"{word!r} is not a day of the week: use 0 to 7 or sun to sat")
