"""Parameters of statements that have no value."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.gate.reading import check_params
from pgs_neo4j.database.gate.tokens import read_tokens
from pgs_neo4j.errors import GateError


def test_all_missing_values_are_named_once() -> None:
    tokens = read_tokens("MATCH (n:A {x: $x, y: $`a b`}) WHERE n.z = $x OR n.w = $w RETURN $0")
    check_params(tokens, {"x": 1, "a b": None, "w": 3, "0": 4, "unused": 5})
    with pytest.raises(GateError, match=r"no value for \$x, \$a b, \$0; give one"):
        check_params(tokens, {"w": 3})
