"""Restrictions: a condition and a date, and the bounds that the date gives."""

from __future__ import annotations

import pytest

from pgs_neo4j.errors import ConditionError
from pgs_neo4j.model.scope import Bound
from pgs_neo4j.text.restriction import NO_RESTRICTION, make_bounds, make_restriction


def is_valid(as_of: str, since: str | None = None, until: str | None = None) -> bool:
    """Return whether dates are within the bounds, as the database compares texts."""
    values = {"since": since, "until": until}
    bounds = make_bounds(as_of, "since", "until")
    found = ((values[bound.name], bound) for bound in bounds)
    return all(value is None or bound.low <= value < bound.high for value, bound in found)


def test_without_a_condition_and_a_date_there_is_no_restriction() -> None:
    assert make_restriction() == make_restriction("", " ") == NO_RESTRICTION
    assert not NO_RESTRICTION
    assert make_bounds("", "since", "until") == ()


@pytest.mark.parametrize(
    ("as_of", "since", "until", "valid"),
    [
        ("2024-05-01", "2024-05-01T10:00Z", None, True),
        ("2024-05-01", "2024-05-02", None, False),
        ("2024-05-01", "2024", None, True),
        ("2024-05", "2024-05-31", None, True),
        ("2024-05-01", None, "2024-05-01T10:00Z", False),
        ("2024-05-01", None, "2024-05-02", True),
        ("2024-05-01", None, "2024", False),
        ("2024-05-01", "2020", "2030", True),
        ("2024-05-01", None, None, True),
    ],
)
def test_what_began_by_the_date_and_has_not_ended_is_valid(
    as_of: str, since: str | None, until: str | None, valid: bool
) -> None:
    assert is_valid(as_of, since, until) == valid


def test_only_properties_that_the_graph_names_bound_anything() -> None:
    assert [bound.name for bound in make_bounds("2024", None, "until")] == ["until"]
    assert make_bounds("2024", None, None) == ()
    assert all(isinstance(bound, Bound) for bound in make_bounds("2024", "since", "until"))


@pytest.mark.parametrize("date", ["yesterday", "24", "2024-5", "2024-05-01 10:00", "2024/05"])
def test_what_is_no_date_is_refused(date: str) -> None:
    with pytest.raises(ConditionError, match="is not a date; write it as in 2024"):
        make_restriction(as_of=date)


def test_restrictions_are_joined_unless_their_dates_differ() -> None:
    recent, reports = make_restriction("year > 2000"), make_restriction("kind = 'report'", "2024")
    joined = recent.join(reports)
    assert joined.where_text == "(`year` > 2000) and (`kind` = 'report')"
    assert joined.as_of == "2024"
    assert recent.join(recent) == recent == recent.join(NO_RESTRICTION)
    with pytest.raises(ConditionError, match="as of 2024 already"):
        reports.join(make_restriction(as_of="2023"))
