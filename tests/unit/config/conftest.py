"""A working directory and a home without settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j import config


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory; the user's own file would be in ``home`` below it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config.provenance, "user_config_path", lambda _: tmp_path / "home")
    return tmp_path
