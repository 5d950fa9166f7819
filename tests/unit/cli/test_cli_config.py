"""What `pgs config show` prints: words, meanings, and what is truly in force."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgs_neo4j import config
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.text.shown import one_line
from tests.fakes.commands import on_one_line, pgs


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config.provenance, "user_config_path", lambda _: tmp_path / "home")
    return tmp_path


def shown(monkeypatch: pytest.MonkeyPatch, columns: int = 200) -> dict[str, str]:
    """The lines of the table by setting."""
    monkeypatch.setenv("COLUMNS", str(columns))
    done = pgs("config", "show")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    return {line.split()[0]: one_line(" ".join(line.split()[1:])) for line in lines if line}


def test_values_are_words_and_each_has_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = shown(monkeypatch)
    assert rows["cache"] == "true default reuse the stored replies to identical prompts"
    assert rows["hedge"].startswith("false default")
    assert rows["max_calls"] == "none default maximum model calls of one run"
    assert rows["neo4j_database"].startswith("not set default database; unset")
    assert rows["cache_mb"].startswith("64 default")
    assert rows["llm_provider"].startswith("not set: extractive default")
    assert not {"None", "True", "False"} & set(" ".join(rows.values()).split())
    rows = shown(monkeypatch)
    assert rows["neo4j_uri"].startswith("the local server default")
    assert rows["neo4j_password"].startswith("its own default")
    assert rows["database:"].startswith("the managed local server")
    monkeypatch.setenv("PGS_NEO4J_URI", "bolt://localhost")
    rows = shown(monkeypatch)
    assert rows["neo4j_uri"].startswith("bolt://localhost environment")
    assert rows["neo4j_password"].startswith("not set")
    assert "database:" not in rows


@pytest.mark.parametrize("columns", [80, 200])
def test_names_and_meanings_are_whole_at_every_width(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    rows = shown(monkeypatch, columns)
    declared = [*config.declarations(config.Settings), *config.declarations(config.PGSConfig)]
    names = {setting.name for setting in declared} - {"search"} | {*config.SEARCH_KEYS}
    assert names <= rows.keys()
    text = on_one_line(pgs("config", "show").stdout)
    if columns == 80:
        fields = config.SearchDefaults.model_fields.values()
        meanings = [setting.description for setting in declared if setting.name != "search"]
        assert all(
            meaning in text for meaning in [*meanings, *(f"{f.description}" for f in fields)]
        )


def test_the_threshold_is_the_one_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    own = HashingEmbedder().threshold
    name = "partition_relevance_threshold"
    assert shown(monkeypatch)[name].startswith(
        f"{own:g} with hashing, 0.25 with stored vectors default"
    )
    monkeypatch.setenv("PGS_EMBEDDER", "hashing")
    assert shown(monkeypatch)[name].startswith(f"{own:g} with hashing default")
    monkeypatch.setenv("PGS_EMBEDDER", "openai")
    assert shown(monkeypatch)[name].startswith("0.25 default")
    monkeypatch.setenv("PGS_PARTITION_RELEVANCE_THRESHOLD", "0.3")
    monkeypatch.delenv("PGS_EMBEDDER")
    assert shown(monkeypatch)[name].startswith("0.3 environment")


def test_origins_are_exact_also_of_each_key_of_the_search_table(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pgs.toml").write_text(
        'max_calls = 3\n[search]\nmode = "local"\nweights = [1, 0.5, 0]\n'
    )
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("PGS_SEARCH", '{"top_k": 5}')
    rows = shown(monkeypatch)
    for name, told in {
        "max_calls": "3 pgs.toml here",
        "llm_api_key": "*** OPENAI_*",
        "search.mode": "local pgs.toml here what a search compares",
        "search.weights": "1, 0.5, 0 pgs.toml here",
        "search.top_k": "5 environment",
        "search.rerank": "not set default",
    }.items():
        assert rows[name].startswith(told)
    assert "search" not in rows
    done = pgs("config", "show", "--json")
    listed = {row["name"]: row for row in json.loads(done.stdout)["settings"]}
    for name, *origin in (
        ("max_calls", "file", "directory"),
        ("llm_api_key", "environment", "customary"),
        ("hedge", "default", "default"),
        ("search.mode", "file", "directory"),
    ):
        assert [listed[name]["origin"], listed[name]["source"]] == origin
    assert listed["search.weights"]["value"] == [1.0, 0.5, 0.0]
    assert "is in force, because it is in the working directory" in done.stderr


def test_a_key_that_stays_behind_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("PGS_LLM_BASE_URL", "http://localhost:11434/v1")
    assert "without OPENAI_API_KEY" in shown(monkeypatch)["models:"]
    monkeypatch.setenv("PGS_LLM_BASE_URL", "https://models.org/v1")
    assert "is not sent to models.org" in shown(monkeypatch)["models:"]
    monkeypatch.setenv("PGS_LLM_API_KEY", "sk-hidden")
    assert "models:" not in shown(monkeypatch)
