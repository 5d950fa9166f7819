"""The manual as a site: no link leads nowhere, and each topic has its page."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pgs_neo4j.manual import TOPICS

ROOT = Path(__file__).parents[3]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for name in ("sphinx", "myst_parser", "furo"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed (extra site)")
    command = [sys.executable, str(ROOT / ".github/site/build.py"), str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment()
    )
    assert done.returncode == 0, done.stderr
    pages = {path.stem for path in tmp_path.glob("*.html")}
    assert {"index", *TOPICS} <= pages
    assert 'href="server.html#metrics"' in (tmp_path / "operations.html").read_text()


def environment() -> dict[str, str]:
    """The environment of a fresh shell, which finds this checkout."""
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
