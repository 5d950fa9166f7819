"""The defaults of searches, and where each key comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j import config
from pgs_neo4j.config import SEARCH_KEYS, SearchDefaults
from pgs_neo4j.errors import ConfigError


def test_each_key_comes_from_the_strongest_source_that_sets_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pgs.toml").write_text('[search]\nmode = "local"\ntop_k = 4\nweights = [1, 2, 0]\n')
    monkeypatch.setenv("PGS_SEARCH", '{"top_k": 5, "rerank": "mmr"}')
    loaded = config.load({"search": {"rerank": "cosine"}})
    assert loaded.settings.search == SearchDefaults(
        mode="local", top_k=5, weights=(1.0, 2.0, 0.0), rerank="cosine"
    )
    sources = {key.removeprefix("search."): loaded.provenance.source(key) for key in SEARCH_KEYS}
    assert sources == {
        "mode": "directory",
        "top_k": "environment",
        "weights": "directory",
        "rerank": "call",
        "keywords": "default",
        "max_context_tokens": "default",
    }
    assert loaded.origins["search.mode"] == "file"


def test_an_object_replaces_every_key_and_a_call_those_that_it_gives(here: Path) -> None:
    (here / "pgs.toml").write_text('[search]\nmode = "local"\n')
    loaded = config.load({"search": SearchDefaults(top_k=7)})
    assert loaded.settings.search == SearchDefaults(top_k=7)
    assert {loaded.provenance.source(key) for key in SEARCH_KEYS} == {"call"}
    configured = SearchDefaults(mode="local", top_k=4)
    assert configured.chosen(mode=None, top_k=9) == SearchDefaults(mode="local", top_k=9)
    assert configured.chosen(top_k=0).top_k == 0  # refused where it is used


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("search = 3", r"search is not a table; write its keys under \[search\]"),
        ("[search]\nmod = 'x'", r"search\.mod is unknown; did you mean mode\?"),
        ("[search]\nmode = 'x'", r"search\.mode must be 'naive', "),
        ("[search]\ntop_k = 0", r"search\.top_k must be at least 1"),
        ("[search]\ntop_k = 201", r"search\.top_k must be at most 200"),
        ("[search]\nweights = [1, 2]", r"search\.weights\.2 is missing"),
        ("[search]\nweights = [1, -2, 0]", r"search\.weights\.1 must be at least 0"),
        (
            "[search]\nweights = [1, nan, 0]",
            r"search\.weights\.1 must be a number that is not infinite",
        ),
        ("[search]\nrerank = 'best'", r"search\.rerank must be 'none', "),
        ("[search]\nmax_context_tokens = 10", r"search\.max_context_tokens must be at least 200"),
    ],
)
def test_a_wrong_table_is_told_with_its_key(here: Path, text: str, said: str) -> None:
    (here / "pgs.toml").write_text(f"{text}\n")
    with pytest.raises(ConfigError, match=said):
        config.load()


@pytest.mark.parametrize("value", ["{", "local", '["local"]'])
def test_a_variable_that_is_no_table_is_told(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGS_SEARCH", value)
    with pytest.raises(ConfigError, match=r"(PGS_SEARCH is not JSON|search is not a table); write"):
        config.load()
