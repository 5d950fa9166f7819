"""Checks of the embedder and of the models, without an endpoint."""

from types import SimpleNamespace

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine.doctor import models
from pgs_neo4j.engine.doctor.models import (
    TIMEOUT_S,
    examine_embedder,
    examine_models,
    examine_reranker,
    sweep_pass_size,
)
from pgs_neo4j.errors import ConfigError, ModelAuthError
from pgs_neo4j.llm.context import UNKNOWN, ModelContext
from pgs_neo4j.llm.embedders.fitting import TextFit
from pgs_neo4j.llm.factory import Readers
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.replies import ProbeResult, probe_result

LISTED = ProbeResult(True, "db.example.org answers and lists m")


class Probed(OpenAILLM):
    """A model whose endpoint is never opened."""

    larger_context = "start it with: more"
    refuses_long_prompts = False

    def __init__(self, answer: ProbeResult | Exception, context: int = 32_768) -> None:
        self.name, self.answer, self.context, self.closed = "m", answer, context, 0

    async def read_context(self) -> ModelContext | None:
        return ModelContext(self.context, "server") if self.context else None

    async def probe(self) -> ProbeResult:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def configs(monkeypatch):
    """The configurations that the models get; each model is the one of the settings."""
    used = []

    def create(settings, config):
        used.append(config)
        return Readers(*[settings.model] * 5)

    monkeypatch.setattr(models, "create_llms", create)
    return used


def settings(**changes):
    return Settings(**{"llm_provider": "openai", "embedder": "hashing"} | changes)


async def examined(
    answer: ProbeResult | Exception, config: PGSConfig | None = None, context: int = 32_768
):
    """The check of a model that is both reader and writer, after it was closed once."""
    model = Probed(answer, context)
    given = SimpleNamespace(uses_models=True, model=model, models={})
    (check,) = await examine_models(given, config or PGSConfig())
    assert (check.name, model.closed) == ("model", 1)
    return check


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (LISTED, "ok"),
        (ProbeResult(None, "x answers, but lists no models"), "ok"),
        (ModelAuthError("refused the API key"), "failed"),
    ],
)
async def test_one_model_for_both_is_checked_and_closed_once(configs, answer, status):
    check = await examined(answer, PGSConfig(model_timeout_s=5.0))
    assert check.status == status
    known = "; its context: 32,768 tokens (as the server says)"
    probed = isinstance(answer, ProbeResult)
    assert check.detail == (f"{answer.text}{known}" if probed else str(answer))
    await examined(answer, PGSConfig(model_timeout_s=900.0))
    assert [config.model_timeout_s for config in configs] == [5.0, TIMEOUT_S]


async def test_a_small_context_is_a_warning_with_what_to_do(configs):
    check = await examined(LISTED, context=4_096)
    assert check.status == "warning"
    assert check.detail.endswith("its context: 4,096 tokens (as the server says)")
    assert check.fix.endswith("for fewer passes, start it with: more")


async def test_a_context_that_no_server_says_is_said_to_be_unknown(configs):
    check = await examined(LISTED, context=0)
    assert (check.status, check.detail) == ("ok", f"{LISTED.text}; its context: {UNKNOWN}")


async def test_an_endpoint_embeds_one_word_and_is_closed(monkeypatch):
    asked: list = []

    class Embedder:
        name, dimensions = "e", None

        async def embed(self, texts):
            asked.append(texts)
            return np.zeros((1, 7), dtype=np.float32)

        async def close(self):
            asked.append("closed")

    monkeypatch.setattr(models, "create_embedder", lambda *_: Embedder())
    check, dimensions = await examine_embedder(settings(embedder="openai"), PGSConfig())
    assert (check.detail, dimensions) == ("e, vectors of 7", 7)
    assert asked == [["word"], "closed"]


async def test_an_embedder_that_fails_names_its_settings_or_its_extra(monkeypatch):
    def create(*_):
        raise ConfigError("out of range")

    monkeypatch.setattr(models, "create_embedder", create)
    for name, fix in (("openai", "PGS_LLM_BASE_URL"), ("hashing", "PGS_EMBEDDING_DIMENSIONS")):
        check, dimensions = await examine_embedder(settings(embedder=name), PGSConfig())
        assert (check.status, dimensions) == ("failed", None)
        assert fix in check.fix
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    check, _ = await examine_embedder(settings(embedder="sentence-transformers"), PGSConfig())
    assert (check.status, check.detail) == ("failed", "the package is not installed")
    assert "pgs-neo4j[sentence-transformers]" in check.fix


async def test_a_model_that_is_not_listed_is_told_which_are(configs):
    names = tuple(f"m{number}" for number in range(11))
    check = await examined(ProbeResult(False, "x answers and does not list m", names))
    assert check.fix == (
        "set PGS_SWEEP_MODEL to a model that it lists: m0, m1, m2, m3, m4, m5, m6, m7, and 3 more"
    )


def test_models_with_a_similar_name_come_first_and_are_safe_to_show():
    listed = ("zeta", "llama3.1:8b", "qwen2.5:7b\x1b[31m", "llama3.2:1b")
    found = probe_result(Endpoint("http://h:1/v1"), "llama3.1", listed).models
    assert found[0] == "llama3.1:8b"
    assert found[1] == "llama3.2:1b"
    assert all(name.isprintable() for name in found)


@pytest.mark.parametrize(("name", "words"), [(None, "not set: hashing"), ("none", "off; every")])
async def test_an_embedder_that_is_not_set_or_off_is_said(name, words):
    check, dimensions = await examine_embedder(settings(embedder=name), PGSConfig())
    assert (check.status, dimensions) == ("ok", None)
    assert check.detail.startswith(words)


async def test_a_reranker_is_asked_what_it_reads_and_closed(monkeypatch):
    closed: list = []

    class Reranker:
        name = "orders"

        def __init__(self):
            self.fit = TextFit()

        async def ask_limit(self):
            self.fit.most = 512

        async def close(self):
            closed.append(self)

    monkeypatch.setattr(models, "create_relevance_model", lambda *_: Reranker())
    (check,) = await examine_reranker(settings(), PGSConfig())
    assert (check.name, check.status, len(closed)) == ("reranker", "ok", 1)
    assert check.detail.startswith("orders; it reads about ")

    def refuse(*_):
        raise ConfigError("the reranker http has no endpoint")

    monkeypatch.setattr(models, "create_relevance_model", refuse)
    (check,) = await examine_reranker(settings(), PGSConfig())
    assert (check.status, check.fix) == ("failed", models.RERANK_FIX)
    monkeypatch.setattr(models, "create_relevance_model", lambda *_: None)
    assert await examine_reranker(settings(), PGSConfig()) == ()


async def test_models_that_cannot_be_made_are_a_failure(monkeypatch):
    def refuse(*_):
        raise ModelAuthError("no API key is configured")

    monkeypatch.setattr(models, "create_llms", refuse)
    (check,) = await examine_models(settings(), PGSConfig())
    assert (check.name, check.status, check.fix) == ("model", "failed", models.ENDPOINT_FIX)


def test_the_size_of_a_pass_is_that_of_the_context_of_the_model():
    small = {"models": {"m": {"context": 8_192}}, "sweep_model": "m"}
    config = PGSConfig()
    with_context = sweep_pass_size(settings(**small), config)
    assert with_context < sweep_pass_size(settings(sweep_model="m"), config)
    assert with_context < 8_192
    extractive = settings(**small | {"llm_provider": "extractive"})
    assert sweep_pass_size(extractive, config) == sweep_pass_size(settings(), config)
