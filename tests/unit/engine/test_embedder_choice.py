"""Which embedder reads texts and questions: that of the settings, and that of stored vectors."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig, load
from pgs_neo4j.engine.core import Core
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.factory import Readers
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.space import Space, choose
from tests.fakes.embedders import ScriptedEmbedder

SERVED = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1"}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)


def core(**settings: Any) -> Core:
    named = {f"llm_{name}" if name in SERVED else name: one for name, one in settings.items()}
    llm, loaded = ScriptedLLM(lambda prompt: ""), load(named)
    anything: Any = None
    return Core(anything, loaded.settings, PGSConfig(), Readers(llm, llm, llm, llm, llm))


def mapping(model: str | None) -> GraphMapping:
    return GraphMapping(embedding="v", embedding_model=model)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"provider": "extractive"}, "hashing-2048"),
        (SERVED, "openai/text-embedding-3-small"),
        ({**SERVED, "embedding_model": "e", "embedding_dimensions": 64}, "openai/e-64"),
        ({**SERVED, "embedder": "hashing", "embedding_dimensions": 64}, "hashing-64"),
        ({**SERVED, "embedder": "openai", "embedding_model": "nomic"}, "openai/nomic"),
        ({"provider": "extractive", "embedder": "sentence-transformers"},
         "sentence-transformers/all-MiniLM-L6-v2"),
    ],
)  # fmt: skip
def test_documents_are_embedded_as_set_else_by_the_provider(
    settings: dict[str, Any], name: str
) -> None:
    opened = core(**settings)
    assert opened.ingest_embedder().name == name
    # Their questions are embedded alike, also if only the provider is set.
    assert opened.space(mapping(name)).made_stored


@pytest.mark.parametrize("name", ["none", "stored"])
def test_an_embedder_that_reads_no_text_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"PGS_EMBEDDER is {name}"):
        core(provider="extractive", embedder=name).ingest_embedder()


def test_an_embedder_of_ones_own_comes_first() -> None:
    opened = core(provider="extractive", embedder="none")
    opened.embedder = ScriptedEmbedder()
    assert opened.ingest_embedder() is opened.embedder


@pytest.mark.parametrize("model", ["openai/e", "hashing-64", "of their own", None])
def test_vectors_that_the_settings_do_not_lead_to_are_compared_among_themselves(
    model: str | None,
) -> None:
    space = core(provider="extractive").space(mapping(model))
    assert (space.kind, space.embedder, space.made_stored) == ("stored", None, False)


def test_the_name_of_the_model_belongs_to_a_stored_space() -> None:
    named = Space("stored", None, "v"), Space("stored", None, "v", "m")
    assert [space.signature for space in named] == ["stored:v", "stored:v:m"]


def test_hashing_is_stored_only_where_it_made_the_vectors() -> None:
    hashing = HashingEmbedder(64)
    assert choose("hashing", hashing, mapping("openai/e")).kind == "texts"
    space = choose("hashing", hashing, mapping("hashing-64"))
    assert (space.kind, space.threshold, space.lexical) == ("stored", hashing.threshold, True)
    other = choose(None, ScriptedEmbedder(), mapping("hashing-64"))
    assert (other.kind, other.threshold, other.made_stored) == ("stored", None, False)
