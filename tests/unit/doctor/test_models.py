"""Checks of the embedder and of the models, without an endpoint."""

from types import SimpleNamespace

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.doctor import models
from pgs_neo4j.doctor.models import TIMEOUT_S, examine_embedder, examine_models
from pgs_neo4j.errors import ConfigError, ModelAuthError
from pgs_neo4j.llm.openai.chat import OpenAILLM, ProbeResult

LISTED = ProbeResult(True, "db.example.org answers and lists m")


class Probed(OpenAILLM):
    """A model whose endpoint is never opened."""

    def __init__(self, name: str, answer: ProbeResult | Exception) -> None:
        self.name, self.answer, self.closed = name, answer, 0

    async def probe(self) -> ProbeResult:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def readers(monkeypatch):
    """Use these models, and record the configuration that they get."""
    from pgs_neo4j.llm.factory import Readers

    used = SimpleNamespace(config=None)

    def choose(sweep: Probed, synthesis: Probed):
        def create(settings, config):
            used.config = config
            return Readers(sweep, synthesis)

        monkeypatch.setattr(models, "create_llms", create)
        return used

    return choose


def settings(**changes):
    return Settings(**{"llm_provider": "openai", "embedder": "hashing"} | changes)


async def test_one_model_for_both_is_checked_and_closed_once(readers):
    model = Probed("m", LISTED)
    readers(model, model)
    (check,) = await examine_models(settings(), PGSConfig())
    assert (check.name, check.status, check.detail) == ("model", "ok", LISTED.text)
    assert model.closed == 1


async def test_two_models_are_checked_one_by_one(readers):
    missing = ProbeResult(False, "db.example.org answers and does not list s")
    readers(Probed("m", LISTED), Probed("s", missing))
    sweep, synthesis = await examine_models(settings(), PGSConfig())
    assert (sweep.name, sweep.status) == ("sweep model", "ok")
    assert (synthesis.name, synthesis.status) == ("synthesis model", "warning")
    assert synthesis.fix == "set PGS_SYNTHESIS_MODEL to a model that it lists"


async def test_a_sweep_model_that_is_not_listed_names_its_variable(readers):
    model = Probed("m", ProbeResult(False, "x answers and does not list m"))
    readers(model, model)
    (check,) = await examine_models(settings(), PGSConfig())
    assert check.fix.startswith("set PGS_SWEEP_MODEL")


async def test_an_endpoint_without_a_list_passes(readers):
    model = Probed("m", ProbeResult(None, "x answers, but lists no models"))
    readers(model, model)
    (check,) = await examine_models(settings(), PGSConfig())
    assert check.status == "ok"


async def test_an_endpoint_that_refuses_fails_and_is_closed(readers):
    model = Probed("m", ModelAuthError("refused the API key"))
    readers(model, model)
    (check,) = await examine_models(settings(), PGSConfig())
    assert (check.status, check.detail) == ("failed", "refused the API key")
    assert "PGS_LLM_API_KEY" in check.fix
    assert model.closed == 1


async def test_a_model_that_cannot_be_made_is_one_failure(monkeypatch):
    def create(settings, config):
        raise ConfigError("no API key is configured")

    monkeypatch.setattr(models, "create_llms", create)
    (check,) = await examine_models(settings(), PGSConfig())
    assert (check.name, check.status) == ("model", "failed")


@pytest.mark.parametrize(("timeout_s", "used_s"), [(5.0, 5.0), (900.0, TIMEOUT_S)])
async def test_a_probe_never_waits_long(readers, timeout_s, used_s):
    model = Probed("m", LISTED)
    used = readers(model, model)
    await examine_models(settings(), PGSConfig(model_timeout_s=timeout_s))
    assert used.config.model_timeout_s == used_s


@pytest.mark.parametrize("name", [None, "none", "stored"])
async def test_embedders_that_compute_nothing_have_no_length(name):
    check, dimensions = await examine_embedder(settings(embedder=name), PGSConfig())
    assert (check.status, dimensions) == ("ok", None)


async def test_vectors_of_hashing_are_never_compared():
    check, dimensions = await examine_embedder(settings(), PGSConfig())
    assert check.status == "ok"
    assert "vectors of " in check.detail
    assert dimensions is None


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


@pytest.mark.parametrize(
    ("name", "fix"), [("openai", "PGS_LLM_BASE_URL"), ("hashing", "PGS_EMBEDDING_DIMENSIONS")]
)
async def test_an_embedder_that_fails_names_its_settings(monkeypatch, name, fix):
    def create(*_):
        raise ConfigError("out of range")

    monkeypatch.setattr(models, "create_embedder", create)
    check, dimensions = await examine_embedder(settings(embedder=name), PGSConfig())
    assert (check.status, dimensions) == ("failed", None)
    assert fix in check.fix


async def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    check, _ = await examine_embedder(settings(embedder="sentence-transformers"), PGSConfig())
    assert (check.status, check.detail) == ("failed", "the package is not installed")
    assert "pgs-neo4j[sentence-transformers]" in check.fix
