"""The examples of own parts in the manual, which run as they stand, do what the page says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.papers import ROOT, Block, blocks

EXAMPLES = {
    "class Cards": ["sky.cards#1 added", "sky.cards#2 failed the card is empty", "#3 added"],
    "class Persons": [
        "{}",
        "Marie Curie Person Marie Curie worked with Pierre Curie in Paris.",
        "[('NAMED_WITH', 'Pierre Curie')]",
    ],
    "class Nicknames": ["('Margaret Hall',) 1", "('Maggie Hall',) 1"],
    "class Longest": ["1 entities were described", "Oslo | Oslo is a seat of kings."],
}


def example(name: str) -> Block:
    """The block of the page that has this class."""
    page = ROOT / "pgs_neo4j" / "manual" / "extending.md"
    (found,) = [block for block in blocks(page) if f"{name}:" in block.code]
    return found


@pytest.mark.parametrize("name", EXAMPLES)
async def test_an_example_of_a_part_runs_as_it_stands(
    name: str,
    endpoint: Endpoint,
    db: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for key, value in {**endpoint.environment(), "PGS_EMBEDDER": "none"}.items():
        monkeypatch.setenv(key, value)
    await asyncio.to_thread(exec, example(name).code, {})
    printed = capsys.readouterr().out
    for line in EXAMPLES[name]:
        assert line in printed
