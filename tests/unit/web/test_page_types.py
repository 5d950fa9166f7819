"""The types of the page's scripts, as far as their comments name them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest

OPTIONS = (
    *("--noEmit", "--allowJs", "--checkJs", "--strict", "--pretty", "false"),
    *("--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"),
    *("--lib", "es2022,dom,dom.iterable"),
)


@pytest.fixture
def compiler() -> str:
    """TypeScript's compiler: of this environment, where ``.ci/run`` puts it, or of the machine."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    own = Path(sys.executable).parent
    found = shutil.which("tsc", path=str(own)) or shutil.which("tsc")
    if found is None:
        pytest.skip("tsc is not installed (npm package typescript)")
    return found


def test_the_scripts_keep_to_their_types(compiler: str) -> None:
    with as_file(files("pgs_neo4j.web").joinpath("static")) as folder:
        scripts = sorted(map(str, Path(folder).rglob("*.js")))
        assert scripts
        command = [compiler, *OPTIONS, *scripts]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
