"""Checks of the embedder and of the language models."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from pgs_neo4j import config as configuration
from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.engine.doctor.check import Check, run_check
from pgs_neo4j.errors import PGSError
from pgs_neo4j.llm.calls.contexts import Contexts
from pgs_neo4j.llm.factory import create_embedder, create_llms, create_relevance_model
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.served import Probed
from pgs_neo4j.llm.text_limits import describe_text_limits
from pgs_neo4j.pgs.sweeping.fit import pass_size

TIMEOUT_S = 30.0
NAMED = 8  # models of an endpoint that a fix names, those with a similar name first
ENDPOINT_FIX = (
    "check PGS_LLM_BASE_URL and PGS_LLM_API_KEY, or use no model: PGS_LLM_PROVIDER=extractive"
)
RERANK_FIX = "check PGS_RERANK_BASE_URL, PGS_RERANK_MODEL, and the key for it"
DESCRIPTIONS = {
    "none": "off; every partition is a candidate for every question",
    "stored": "a question uses the stored vectors of nodes that share its words",
}
UNSET = (
    "not set: hashing; if a graph has stored vectors, a question uses those of nodes that "
    "share its words"
)


async def examine_embedder(settings: Settings, config: PGSConfig) -> tuple[Check, int | None]:
    """Check the embedder; also return the length of its vectors.

    The length is None if stored vectors are never compared with it. An endpoint embeds one word,
    which is the only call of the examination that may cost anything.
    """
    name = settings.embedder
    if name is None:
        return Check("embedder", "ok", UNSET), None
    if name in DESCRIPTIONS:
        return Check("embedder", "ok", DESCRIPTIONS[name]), None
    if name == "sentence-transformers" and find_spec("sentence_transformers") is None:
        fix = "pip install 'pgs-neo4j[sentence-transformers]', or set another PGS_EMBEDDER"
        return Check("embedder", "failed", "the package is not installed", fix), None
    try:
        embedder = create_embedder(settings, _shorten_timeout(config), name)
        assert embedder is not None
        try:
            dimensions = embedder.dimensions
            if name == "openai":
                dimensions = (await embedder.embed(["word"])).shape[1]
            limits = await describe_text_limits([embedder])
        finally:
            await embedder.close()
    except PGSError as error:
        return Check("embedder", "failed", str(error), _embedder_fix(name)), None
    size = f"vectors of {dimensions}" if dimensions else "loaded at first use"
    # Hashing reads the texts itself, so its vectors are never compared with stored ones.
    comparable = None if name == "hashing" else dimensions
    reads = "".join(f"; it reads {text}" for _, text in limits)
    return Check("embedder", "ok", f"{embedder.name}, {size}{reads}"), comparable


async def examine_reranker(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """Check the model that orders what was found, if one is configured.

    Its server is asked only what it reads of a text, which costs nothing.
    """
    try:
        reranker = create_relevance_model(settings, _shorten_timeout(config))
    except PGSError as error:
        return (Check("reranker", "failed", str(error), RERANK_FIX),)
    if reranker is None:
        return ()
    try:
        limits = await describe_text_limits([reranker])
    finally:
        await reranker.close()
    return tuple(Check("reranker", "ok", f"{name}; it reads {text}") for name, text in limits)


def _embedder_fix(name: str) -> str:
    if name == "openai":
        return (
            "check PGS_EMBEDDING_MODEL, PGS_LLM_BASE_URL and PGS_LLM_API_KEY, or set "
            "PGS_EMBEDDER=hashing, which needs neither"
        )
    return "correct PGS_EMBEDDING_DIMENSIONS or PGS_EMBEDDING_MODEL, or set another PGS_EMBEDDER"


def sweep_pass_size(settings: Settings, config: PGSConfig) -> float:
    """Return the estimated tokens of the longest prompt of a sweep."""
    tokens = config.max_pass_tokens
    if settings.uses_models:
        contexts = Contexts(settings.models)
        tokens = contexts.input_room(settings.sweep_model, tokens, config.sweep_max_tokens)
    return pass_size(config.max_pass_characters, tokens)


async def examine_models(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """Check the sweep and synthesis models, once if they are equal."""
    if not settings.uses_models:
        detail = "extractive: no language model; answers consist of sentences of the graph"
        return (Check("model", "ok", detail),)
    try:
        readers = create_llms(settings, _shorten_timeout(config))
    except PGSError as error:
        return (Check("model", "failed", str(error), ENDPOINT_FIX),)
    named: dict[LLM, str] = {}
    for task, llm in readers.by_task.items():
        named.setdefault(llm, task)
    if len(named) == 1:
        named = {readers.sweep: "model"}
    try:
        return tuple(
            [
                await run_check(name, _probe_model(name, llm, settings.models), ENDPOINT_FIX)
                for llm, name in named.items()
                if isinstance(llm, Probed)
            ]
        )
    finally:
        await readers.close()


async def _probe_model(name: str, llm: Probed, models: Mapping[str, ModelEntry]) -> Check:
    result = await llm.probe()
    if result.listed is False:
        variable = f"PGS_{name.replace(' ', '_').upper()}" if " " in name else "PGS_SWEEP_MODEL"
        more = f", and {len(result.models) - NAMED:,} more" if len(result.models) > NAMED else ""
        named = f": {', '.join(result.models[:NAMED])}{more}" if result.models else ""
        fix = f"set {variable} to a model that it lists{named}"
        return Check(name, "warning", result.text, fix)
    contexts = Contexts(models)
    await contexts.ask(llm)
    known = "".join(f"; its context: {text}" for _, text in contexts.describe((llm,)))
    advice = contexts.advise((llm,))
    if advice:
        return Check(name, "warning", f"{result.text}{known}", advice[0])
    return Check(name, "ok", f"{result.text}{known}")


def _shorten_timeout(config: PGSConfig) -> PGSConfig:
    timeout_s = min(config.model_timeout_s, TIMEOUT_S)
    return configuration.with_overrides(config, {"model_timeout_s": timeout_s})
