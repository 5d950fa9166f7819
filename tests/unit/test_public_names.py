"""The public names are exactly these, and importing the package imports nothing heavy."""

import subprocess
import sys

import pytest

import pgs_neo4j

PUBLIC = {
    "PGS",
    "Answer",
    "Coverage",
    "GraphMapping",
    "PGSConfig",
    "PGSError",
    "Partition",
    "Request",
    "Settings",
    "Sweep",
    "Synthesis",
    "__version__",
}


def test_the_public_names():
    assert set(pgs_neo4j.__all__) == PUBLIC
    assert all(getattr(pgs_neo4j, name) is not None for name in PUBLIC)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = pgs_neo4j.nothing_here


def test_importing_the_package_is_cheap():
    code = "import sys, pgs_neo4j; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "neo4j", "openai", "pandas", "graphdatascience", "typer", "pydantic", "mcp"}
    assert not heavy & set(run.stdout.split())
