from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.factory import create_embedder, create_llms
from pgs_neo4j.llm.openai import recognizing
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.recognizing import AskedLLM
from pgs_neo4j.llm.protocol import LLM

CONFIG = PGSConfig(model_timeout_s=5.0)
LOCAL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("settings", "kind", "name"),
    [
        ({}, ExtractiveLLM, "extractive"),
        ({"sweep_model": "small", "synthesis_model": "large"}, AskedLLM, "small + large"),
        ({"sweep_model": "m", "synthesis_model": "m"}, AskedLLM, "m"),
    ],
)
async def test_a_base_url_means_openai_and_one_model_for_both_is_one_object(
    settings: dict[str, str], kind: type[LLM], name: str
) -> None:
    given: dict[str, Any] = settings | ({"llm_base_url": LOCAL} if settings else {})
    readers = create_llms(Settings(**given), CONFIG)
    assert isinstance(readers.sweep, kind)
    assert readers.name == name
    assert (readers.synthesis is readers.sweep) == ("+" not in name)
    await readers.close()


async def test_a_server_is_asked_once_for_all_of_its_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Endpoint] = []

    async def ask_kind(endpoint: Endpoint) -> recognizing.Kind:
        asked.append(endpoint)
        return "busy" if len(asked) == 1 else "other"  # it is starting at first

    monkeypatch.setattr(recognizing, "ask_kind", ask_kind)
    readers = create_llms(Settings(llm_base_url=LOCAL, answer_model="m"), CONFIG)
    models = [llm for llm in readers.by_task.values() if isinstance(llm, AskedLLM)]
    assert len({llm.name for llm in models}) == 3
    for llm in models:
        await llm.read_context()
    assert [endpoint.url for endpoint in asked] == [LOCAL] * 2
    await readers.close()


def test_vectors_of_a_graph_have_no_embedder_and_none_is_none() -> None:
    assert create_embedder(Settings(), CONFIG, "none") is None
    with pytest.raises(ConfigError, match="vectors of a graph"):
        create_embedder(Settings(), CONFIG, "stored")


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
