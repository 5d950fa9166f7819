"""The `[scope]` table, and the scope of a token."""

from __future__ import annotations

import pytest

from pgs_neo4j import config
from pgs_neo4j.config.token_table import TokenEntry, entries
from pgs_neo4j.errors import ConfigError

TOKEN = {"name": "ann", "sha256": "0" * 64, "role": "asker"}


def test_a_scope_keeps_the_types_of_its_values() -> None:
    scope = config.load({"scope": {"org": 7, "open": True, "name": "7"}}).settings.scope
    assert scope == {"org": 7, "open": True, "name": "7"}
    assert [type(scope[name]) for name in ("org", "open", "name")] == [int, bool, str]


def test_the_environment_has_a_scope_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGS_SCOPE", '{"org": 7}')
    assert config.load().settings.scope == {"org": 7}


@pytest.mark.parametrize(
    ("values", "reason"),
    [("org=7", "not a table"), ({"org": None}, "org is null"), ({"org": [1]}, "list")],
)
def test_malformed_scopes_are_refused(values: object, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        config.load({"scope": values})
    with pytest.raises(ConfigError, match=reason):
        entries([{**TOKEN, "scope": values}])


def test_a_token_has_no_scope_unless_it_names_one() -> None:
    plain, limited = entries(
        [TOKEN, {**TOKEN, "name": "bob", "sha256": "1" * 64, "scope": {"org": 7}}]
    )
    assert isinstance(plain, TokenEntry)
    assert (plain.scope, limited.scope) == ({}, {"org": 7})
