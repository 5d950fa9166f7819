"""Tests of the benchmarks run with ``--thorough`` only."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder as thorough."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("thorough")
