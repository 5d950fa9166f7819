"""The measurement of reading fails where its figures belie a claim."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench import program
from tests.bench.reading import find_false_claims

RIGHT = {"seed": 1, "right": True, "refused": 0, "true": 100}
CELL = {"read": 1.0, "right": True}


@pytest.mark.parametrize(
    ("cell", "history", "named"),
    [
        (CELL, RIGHT, []),
        (CELL | {"right": False}, RIGHT, ["vllm, context 4,096: "]),
        (CELL, RIGHT | {"right": False}, ["history 1: "]),
        (CELL, RIGHT | {"refused": 1}, ["1 of 100 true prompts were refused"]),
    ],
)
def test_each_false_claim_is_named_and_ends_in_an_exit_code(
    capsys: pytest.CaptureFixture[str],
    cell: dict[str, Any],
    history: dict[str, Any],
    named: list[str],
) -> None:
    found = find_false_claims({"wires": {"vllm": {"4,096": cell}}, "histories": [history]})
    assert [claim[: len(start)] for claim, start in zip(found, named, strict=True)] == named
    code = program.told(lambda: {"false": found}, lambda _: "figures", as_json=False)
    assert code == (program.FAULT if named else program.DONE)
    assert capsys.readouterr().err.count("false: ") == len(named)
