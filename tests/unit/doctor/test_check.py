"""Lines of an examination, and what they become when something fails."""

import pytest

from pgs_neo4j.doctor.check import Check, report_unreadable, run_check, skip_checks
from pgs_neo4j.errors import ConfigError, QueryError


async def failing(error: Exception) -> Check:
    raise error


async def test_an_error_of_the_package_becomes_a_failed_check():
    check = await run_check("read", failing(QueryError("refused")), "fix it")
    assert check == Check("read", "failed", "refused", "fix it")


async def test_any_other_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        await run_check("read", failing(ZeroDivisionError()), "fix it")


def test_skipped_checks_carry_the_reason_and_no_fix():
    assert skip_checks(("a", "b"), "c failed") == (
        Check("a", "skipped", "c failed"),
        Check("b", "skipped", "c failed"),
    )
    assert skip_checks((), "c failed") == ()


def test_a_configuration_that_cannot_be_loaded_skips_everything_else():
    first, *rest = report_unreadable(ConfigError("top_k is out of range"))
    assert (first.name, first.status, first.detail) == (
        "configuration",
        "failed",
        "top_k is out of range",
    )
    assert first.fix
    assert {check.status for check in rest} == {"skipped"}
