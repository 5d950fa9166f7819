"""What ``pytest --thorough`` adds to the tests that everybody runs.

Mark a test ``@pytest.mark.thorough`` if it needs a browser, kills processes by the dozen, or takes
many seconds for what a shorter test shows as well. Where only the number of tries differs, keep
the test and choose the number with ``tries``, or with ``histories`` where chance says what happens.
``pytest --histories 500 tests/integration/test_spending.py`` lives through 500 of them, and
``--histories 41:60`` through those of the seeds 41 to 59.
"""

from __future__ import annotations

import os

import pytest

VARIABLE = "PGS_TEST_THOROUGH"
HISTORIES = "PGS_TEST_HISTORIES"


def enable(config: pytest.Config) -> None:
    """Announce the option to this process and the workers it starts, before tests are imported."""
    config.addinivalue_line("markers", "thorough: takes long; runs with --thorough only")
    if config.getoption("--thorough"):
        os.environ[VARIABLE] = "1"
    if wanted := config.getoption("--histories"):
        os.environ[HISTORIES] = wanted


def tries(default: int, thorough: int) -> int:
    """Return how often to try something: ``thorough`` times with ``--thorough``."""
    return thorough if VARIABLE in os.environ else default


def histories(default: int, thorough: int) -> range:
    """Return the seeds of random histories: those of ``--histories``, else as many as ``tries``."""
    if HISTORIES in os.environ:
        return parse_seeds(os.environ[HISTORIES])
    return range(tries(default, thorough))


def check_seeds(text: str) -> str:
    """Return the value of ``--histories`` as it is, since workers get it as text.

    Raises ValueError.
    """
    parse_seeds(text)
    return text


def parse_seeds(text: str) -> range:
    """Return the seeds that ``500`` (from 0 up) or ``41:60`` stands for. Raises ValueError."""
    first, colon, end = text.partition(":")
    seeds = range(int(first), int(end)) if colon else range(int(first))
    if not seeds or seeds.start < 0:
        raise ValueError(f"{text} names no history")
    return seeds


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the thorough tests out of ``items``, unless they were asked for."""
    if VARIABLE in os.environ:
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
