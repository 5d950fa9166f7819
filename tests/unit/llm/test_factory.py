from __future__ import annotations

import subprocess
import sys

import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.errors import ConfigError, ModelAuthError
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.embedders.sentence_transformers import SentenceTransformersEmbedder
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.factory import create_embedder, create_llms
from pgs_neo4j.llm.openai.chat import OpenAILLM

CONFIG = PGSConfig(model_timeout_s=5.0)
LOCAL = "http://127.0.0.1:9/v1"


async def test_without_settings_the_extractive_reader_does_both() -> None:
    readers = create_llms(Settings(), CONFIG)
    assert isinstance(readers.sweep, ExtractiveLLM)
    assert readers.synthesis is readers.sweep
    assert readers.name == "extractive"
    await readers.close()


async def test_a_base_url_means_openai_with_two_models() -> None:
    settings = Settings(llm_base_url=LOCAL, sweep_model="small", synthesis_model="large")
    readers = create_llms(settings, CONFIG)
    assert isinstance(readers.sweep, OpenAILLM)
    assert readers.name == "small + large"
    await readers.close()


async def test_one_model_for_both_is_one_object() -> None:
    settings = Settings(llm_base_url=LOCAL, sweep_model="m", synthesis_model="m")
    readers = create_llms(settings, CONFIG)
    assert readers.sweep is readers.synthesis
    assert readers.name == "m"
    await readers.close()


def test_openai_without_key_or_url_says_what_to_set() -> None:
    with pytest.raises(ModelAuthError, match="PGS_LLM_API_KEY"):
        create_llms(Settings(llm_provider="openai"), CONFIG)


def test_embedders_by_name() -> None:
    settings = Settings(llm_base_url=LOCAL)
    assert create_embedder(settings, CONFIG, "none") is None
    assert isinstance(create_embedder(settings, CONFIG), HashingEmbedder)
    made = create_embedder(settings, CONFIG, "openai")
    assert isinstance(made, OpenAIEmbedder)
    assert made.name == "openai/text-embedding-3-small"
    local = create_embedder(settings, CONFIG, "sentence-transformers")
    assert isinstance(local, SentenceTransformersEmbedder)
    with pytest.raises(ConfigError, match="vectors of a graph"):
        create_embedder(settings, CONFIG, "stored")


def test_settings_choose_embedder_model_and_dimensions() -> None:
    settings = Settings(embedder="hashing", embedding_dimensions=64)
    made = create_embedder(settings, CONFIG)
    assert made is not None
    assert made.name == "hashing-64"
    named = Settings(llm_base_url=LOCAL, embedder="openai", embedding_model="nomic")
    other = create_embedder(named, CONFIG)
    assert other is not None
    assert other.name == "openai/nomic"


def test_the_extractive_reader_needs_no_client_library() -> None:
    code = (
        "import sys; from pgs_neo4j.config import PGSConfig, Settings; "
        "from pgs_neo4j.llm.factory import create_embedder, create_llms; "
        "create_llms(Settings(llm_provider='extractive'), PGSConfig()); "
        "create_embedder(Settings(), PGSConfig(), 'hashing'); "
        "sys.exit(sum(name in sys.modules for name in ('openai', 'httpx2', 'stamina')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == 0
