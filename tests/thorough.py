"""The tests that ``pytest --thorough`` adds to those that everybody runs.

Mark a test ``@pytest.mark.thorough`` if it needs a browser, kills dozens of processes, or takes
many seconds to show what a shorter test also shows. If only the number of tries differs, keep the
test and choose the number with ``tries``, or with ``histories`` if chance decides what happens.
``pytest --histories 500 tests/integration/test_spending.py`` runs 500 of them, and ``--histories
41:60`` those of the seeds 41 to 59.

Mark a test ``@pytest.mark.nightly`` instead if it repeats for a minute or so what another test
shows once. ``--thorough`` also runs it, but ``.ci/run`` runs it only with ``--nightly``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

VARIABLE = "PGS_TEST_THOROUGH"
HISTORIES = "PGS_TEST_HISTORIES"


def enable(config: pytest.Config) -> None:
    """Set the option for this process and the workers that it starts, before tests are imported."""
    config.addinivalue_line("markers", "thorough: takes long; runs with --thorough only")
    config.addinivalue_line("markers", "nightly: thorough, and .ci/run leaves it to --nightly")
    if config.getoption("--thorough"):
        os.environ[VARIABLE] = "1"
    if wanted := config.getoption("--histories"):
        os.environ[HISTORIES] = wanted


def tries(default: int, thorough: int) -> int:
    """Return how often to try something: ``thorough`` times with ``--thorough``."""
    return thorough if VARIABLE in os.environ else default


def histories(default: int, thorough: int) -> range:
    """Return the seeds of random histories: those of ``--histories``, or as many as ``tries``."""
    if HISTORIES in os.environ:
        return parse_seeds(os.environ[HISTORIES])
    return range(tries(default, thorough))


def in_two_parts(seeds: range, first: int) -> list[ParameterSet]:
    """Return parameters for a test of ``seeds``: the ``first`` ones always, the others at night."""
    others = pytest.param(seeds[first:], id="others", marks=pytest.mark.nightly)
    return [pytest.param(seeds[:first], id="first"), *([others] if seeds[first:] else [])]


def check_seeds(text: str) -> str:
    """Check the value of ``--histories`` and return it as text, which is how workers get it.

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
    """Remove the thorough tests from ``items``, unless they were requested."""
    if VARIABLE in os.environ:
        return
    left_out = [item for item in items if _is_thorough(item)]
    if left_out:
        items[:] = [item for item in items if not _is_thorough(item)]
        config.hook.pytest_deselected(items=left_out)


def _is_thorough(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("thorough", "nightly"))
