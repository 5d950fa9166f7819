"""Refuses the models that are asked without a setting where a provider cannot have them.

The defaults are OpenAI's. Another provider would answer every call with an error about a model that
the user has never heard of, after the graph has been partitioned.
"""

from __future__ import annotations

from pgs_neo4j.config import PGSConfig, Settings, model_access, with_overrides
from pgs_neo4j.config.providers import ProviderName
from pgs_neo4j.errors import ConfigError, PGSError
from pgs_neo4j.llm.factory import create_llms
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.served import Probed

DEFAULTS_OF: tuple[ProviderName | None, ...] = (None, "openai", "azure")
"""Providers that may have the default models. Deployments at Azure have names of the customer."""
TASKS = ("sweep_model", "synthesis_model")  # whose models the other tasks use as well
NAMED = 8  # models of a server that the error names
TIMEOUT_S = 10.0


async def require_models(settings: Settings, config: PGSConfig) -> None:
    """Check that a model is set for each task whose provider does not have the default one.

    Only then, the provider is asked which models it has, at no cost. Raises ConfigError that names
    them.
    """
    if not settings.uses_models:
        return
    unset = [
        name
        for name in TASKS
        if name not in settings.model_fields_set
        and model_access(settings, getattr(settings, name)).provider not in DEFAULTS_OF
    ]
    if not unset:
        return
    timeout_s = min(config.model_timeout_s, TIMEOUT_S)
    readers = create_llms(settings, with_overrides(config, {"model_timeout_s": timeout_s}))
    try:
        found: list[tuple[str, str]] = []
        for name in unset:
            llm = readers.sweep if name == "sweep_model" else readers.synthesis
            if (has := await _ask(llm)) is not None:
                found.append((name, has))
    finally:
        await readers.close()
    if found:
        provider = model_access(settings, getattr(settings, found[0][0])).provider
        variables = " and ".join(f"PGS_{name.upper()}" for name, _ in found)
        raise ConfigError(
            f"no model is set, and {provider} has no default one; set {variables}, or pass --model "
            f"NAME; {found[0][1]}"
        )


async def _ask(llm: LLM) -> str | None:
    """Return what to know of a server's models; None if it has the one that is asked for."""
    assert isinstance(llm, Probed)  # as each model of a provider can be asked
    try:
        result = await llm.probe()
    except PGSError as error:
        return f"which models it has is unknown, because {error}"
    if result.listed:
        return None
    if not result.models:
        return "its server lists no model"
    more = f", and {len(result.models) - NAMED:,} more" if len(result.models) > NAMED else ""
    return f"it has {', '.join(result.models[:NAMED])}{more}"
