"""Tokens of the server are taken from the user's own files only."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j.config import Settings, trusted_tokens
from pgs_neo4j.errors import ConfigError

TABLE = f'[[token]]\nname = "ann"\nsha256 = "{"0" * 64}"\n'


def test_tokens_of_the_working_directory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pgs.toml").write_text(TABLE)
    settings = Settings()
    assert [entry.name for entry in settings.token] == ["ann"]
    with pytest.raises(ConfigError, match=r"may come from anyone; move it to .*PGS_CONFIG"):
        trusted_tokens(settings)


def test_tokens_of_a_named_file_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(TABLE)
    monkeypatch.setenv("PGS_CONFIG", str(own))
    assert [entry.name for entry in trusted_tokens(Settings())] == ["ann"]


def test_without_tokens_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert trusted_tokens(Settings()) == ()
