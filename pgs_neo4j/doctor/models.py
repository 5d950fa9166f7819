"""Checks of what reads and embeds: the embedder, and the language models' endpoint."""

from __future__ import annotations

from importlib.util import find_spec

from pgs_neo4j import config as configuration
from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.doctor.check import Check, guarded
from pgs_neo4j.errors import PGSError
from pgs_neo4j.llm.factory import create_embedder, create_llms
from pgs_neo4j.llm.openai.chat import OpenAILLM

TIMEOUT_S = 30.0
ENDPOINT_FIX = (
    "check PGS_LLM_BASE_URL and PGS_LLM_API_KEY, or do without a model: PGS_LLM_PROVIDER=extractive"
)
SHORT = {
    "none": "switched off, so every partition is a candidate for every question",
    "stored": "questions borrow the stored vectors of the nodes that share their words",
}
UNSET = (
    "not chosen: stored vectors where a graph has them, with questions that borrow those of "
    "nodes that share their words; hashing elsewhere"
)


async def examine_embedder(settings: Settings, config: PGSConfig) -> tuple[Check, int | None]:
    """The embedder, and the length of its vectors where it meets stored ones.

    An endpoint is asked to embed one word, the only thing here that may cost anything.
    """
    name = settings.embedder
    if name is None:
        return Check("embedder", "ok", UNSET), None
    if name in SHORT:
        return Check("embedder", "ok", SHORT[name]), None
    if name == "sentence-transformers" and find_spec("sentence_transformers") is None:
        fix = "pip install 'pgs-neo4j[sentence-transformers]', or choose another PGS_EMBEDDER"
        return Check("embedder", "failed", "the package is not installed", fix), None
    try:
        embedder = create_embedder(settings, _hasty(config), name)
        assert embedder is not None
        try:
            dimensions = embedder.dimensions
            if name == "openai":
                dimensions = (await embedder.embed(["word"])).shape[1]
        finally:
            await embedder.close()
    except PGSError as error:
        return Check("embedder", "failed", str(error), _embedder_fix(name)), None
    size = f"vectors of {dimensions}" if dimensions else "loaded when it is first needed"
    # Hashing reads the texts itself and is never compared with stored vectors.
    met = None if name == "hashing" else dimensions
    return Check("embedder", "ok", f"{embedder.name}, {size}"), met


def _embedder_fix(name: str) -> str:
    if name == "openai":
        return (
            "check PGS_EMBEDDING_MODEL, PGS_LLM_BASE_URL and PGS_LLM_API_KEY, or choose "
            "PGS_EMBEDDER=hashing, which needs nothing"
        )
    return "correct PGS_EMBEDDING_DIMENSIONS or PGS_EMBEDDING_MODEL, or choose another PGS_EMBEDDER"


async def examine_models(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """The models that sweep and synthesize; one check where they are the same."""
    if settings.provider == "extractive":
        detail = "extractive: no language model, answers are made of the graph's own sentences"
        return (Check("model", "ok", detail),)
    try:
        readers = create_llms(settings, _hasty(config))
    except PGSError as error:
        return (Check("model", "failed", str(error), ENDPOINT_FIX),)
    named = {"sweep model": readers.sweep, "synthesis model": readers.synthesis}
    if readers.sweep is readers.synthesis:
        named = {"model": readers.sweep}
    try:
        return tuple(
            [
                await guarded(name, _probe(name, llm), ENDPOINT_FIX)
                for name, llm in named.items()
                if isinstance(llm, OpenAILLM)
            ]
        )
    finally:
        await readers.close()


async def _probe(name: str, llm: OpenAILLM) -> Check:
    said = await llm.probe()
    if f"does not list {llm.name}" in said:
        variable = "PGS_SYNTHESIS_MODEL" if name == "synthesis model" else "PGS_SWEEP_MODEL"
        return Check(name, "warning", said, f"set {variable} to a model that it lists")
    return Check(name, "ok", said)


def _hasty(config: PGSConfig) -> PGSConfig:
    timeout_s = min(config.model_timeout_s, TIMEOUT_S)
    return configuration.with_overrides(config, {"model_timeout_s": timeout_s})
