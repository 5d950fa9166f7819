"""Crontab expressions as crontab(5) has them, made into APScheduler's triggers.

APScheduler reads them otherwise in two places: its weekdays begin with Monday at 0, and a day
of the month and a weekday must both fit where crontab is content with either.
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
    """A trigger for five fields of crontab, by the clock of a time zone or of this machine.

    Raises ValueError that says what is wrong with them.
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
        made = OrTrigger([fires(day, "*"), fires("*", weekday)]) if either else fires(day, weekday)
    if made.get_next_fire_time(None, datetime.now(UTC)) is None:
        raise ValueError("there is no such day")
    return made


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name}") from error


def _weekdays(text: str) -> str:
    """The weekdays of crontab, Sunday being 0 and 7, by their names."""
    if text == "*":
        return text
    days: set[int] = set()
    for part in text.split(","):
        days |= _expanded(part)
    return ",".join(WEEKDAYS[day] for day in sorted(days))


def _expanded(part: str) -> set[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is no day of the week")
    star, first, last, step = match.groups()
    if star:
        begin, end = 0, 6
    else:
        begin = _number(first)
        # A step without an end goes on to the end of the week.
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
    raise ValueError(f"{word!r} is no day of the week: 0 to 7 or sun to sat")
