"""`pgs --scope`: the values, and how they reach the engine."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.cli import scope
from pgs_neo4j.errors import ScopeError, UsageError
from tests.fakes.commands import pgs


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("org=7", 7),
        ("org=-7.5", -7.5),
        ("org=true", True),
        ("org=atlas", "atlas"),
        ('org="7"', "7"),
        ("org=007", "007"),
        ("org=a=b", "a=b"),
        ("org=null", "null"),
        ("org=[1]", "[1]"),
        ("org=NaN", "NaN"),
    ],
)
def test_values_are_read_as_json_scalars_or_as_text(pair: str, value: object) -> None:
    found = scope.parse_scope([pair])["org"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (["org"], "has no value"),
        (["org="], "empty text"),
        (["=7"], "without a name"),
        (["org=1", "org=2"], "twice"),
        ([f"org={2**70}"], "64 bits"),
    ],
)
def test_malformed_pairs_are_refused(pairs: list[str], reason: str) -> None:
    with pytest.raises((UsageError, ScopeError), match=reason):
        scope.parse_scope(pairs)


def test_a_choice_replaces_the_one_before() -> None:
    scope.choose(["org=7"])
    assert scope.chosen() == {"scope": {"org": 7}}
    scope.choose((), "year >= 2020", "2024")
    assert scope.chosen() == {"where": "year >= 2020", "as_of": "2024"}
    scope.choose(())
    assert scope.chosen() == {}


def test_a_malformed_scope_is_an_error_of_the_command() -> None:
    done = pgs("--scope", "org", "graph", "list")
    assert done.exit_code == 2
    assert "--scope 'org' has no value; write --scope PROPERTY=VALUE" in done.stderr
    assert "unexpected" not in done.stderr


async def test_commands_open_the_engine_with_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    from pgs_neo4j.cli import connection
    from pgs_neo4j.engine import PGS

    opened: list[dict[str, Any]] = []

    def connect(**settings: Any) -> Any:
        opened.append(settings)
        raise UsageError("stop here")

    monkeypatch.setattr(PGS, "connect", connect)
    for pairs in (["org=7"], []):
        scope.choose(pairs)
        with pytest.raises(UsageError, match="stop here"):
            async with connection.engine():
                pytest.fail("it was opened")
    assert [settings.get("scope") for settings in opened] == [{"org": 7}, None]
