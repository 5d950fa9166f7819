"""A restriction: the conditions that nodes and relationships meet which an engine sees."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgs_neo4j.errors import ConditionError
from pgs_neo4j.model.scope import Bound
from pgs_neo4j.text.conditions import Condition, Junction, parse_condition, write_condition

LAST = "\U0010ffff"
"""The last character, which follows all others in the order of texts."""
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?)?)?)?")


@dataclass(frozen=True, slots=True)
class Restriction:
    """What an engine restricts its graphs to; made by ``make_restriction``.

    The nodes meet the condition ``where``; None means all. Nodes and relationships are valid at
    ``as_of``, a date in ISO format or its beginning; empty means at any time.
    """

    where: Condition | None = None
    as_of: str = ""

    def __bool__(self) -> bool:
        return self.where is not None or bool(self.as_of)

    @property
    def where_text(self) -> str:
        """The condition in its fixed spelling; empty without one."""
        return write_condition(self.where) if self.where is not None else ""

    def join(self, other: Restriction) -> Restriction:
        """Return the restriction to what both allow.

        Raises ConditionError if they are of different dates.
        """
        if self.as_of and other.as_of and self.as_of != other.as_of:
            raise ConditionError(f"this engine sees its graphs as of {self.as_of} already")
        given = [one for one in (self.where, other.where) if one is not None]
        parts = tuple(dict.fromkeys(given))
        where = Junction("and", parts) if len(parts) > 1 else next(iter(parts), None)
        return Restriction(where, self.as_of or other.as_of)


NO_RESTRICTION = Restriction()


def make_restriction(where: str | None = None, as_of: str | None = None) -> Restriction:
    """Parse a condition and a date. Raises ConditionError."""
    condition = parse_condition(where) if where else None
    date = (as_of or "").strip()
    if date and not _DATE.fullmatch(date):
        raise ConditionError(
            f"{date[:40]!r} is not a date; write it as in 2024, 2024-05, or 2024-05-01"
        )
    return Restriction(condition, date)


def make_bounds(as_of: str, valid_from: str | None, valid_to: str | None) -> tuple[Bound, ...]:
    """Return the bounds of what is valid at a date, for the properties that say since and until.

    Dates are compared as texts in ISO format, and only as far as the date is given. So what began
    in the course of the date is valid, and what ended in its course is not.
    """
    if not as_of:
        return ()
    end = as_of + LAST
    since = (Bound(valid_from, "", end),) if valid_from else ()
    until = (Bound(valid_to, end, LAST),) if valid_to else ()
    return (*since, *until)
