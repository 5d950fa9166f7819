"""Warns users about the sources of their settings before any text or key is sent."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping

from pgs_neo4j.config.addresses import OPENAI_URL, host_in, is_plain
from pgs_neo4j.config.provenance import Provenance, Sourced
from pgs_neo4j.config.settings import Settings
from pgs_neo4j.config.trust import ModelAccess, model_access, rerank_access, server_access
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.text.invalid_values import suggest_similar

SECRETS = ("neo4j_password", "llm_api_key", "rerank_api_key")
READER = ("llm_base_url", "llm_api_key", "llm_provider", "embedder")
OTHER_VARIABLES = (
    "CONFIG",
    "DEBUG",
    "LOCAL_BOLT_PORT",
    "LOCAL_CACHE_DIR",
    "LOCAL_DATA_DIR",
    "LOCAL_HEAP_MB",
    "LOCAL_MIRRORS",
    "LOCAL_PAGE_CACHE_MB",
    "LOCAL_RELEASE",
)
"""Variables that are read but are not settings, without their prefix PGS_."""
# Kubernetes sets variables of this form for a service called pgs.
_SERVICE = re.compile(r"_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_\w+)?$")


def notices(settings: Settings) -> tuple[str, ...]:
    """Return the warnings about the settings, one sentence each."""
    return (
        *_warn_of_directory(settings),
        *_warn_of_plain(settings),
        *_warn_of_readable(settings.provenance),
        *unknown_variables(os.environ),
    )


def unknown_variables(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each variable that begins with PGS_ but is not read.

    Another program may use such a variable, so it is not an error.
    """
    known = [*(name.upper() for name in Sourced.setting_names), *OTHER_VARIABLES]
    for variable in sorted(variables):
        name = variable.removeprefix("PGS_")
        if name == variable or name in known or name.startswith("TEST_"):
            continue
        similar = suggest_similar(name, known, "", quote=lambda other: f"PGS_{other}")
        if similar or not _SERVICE.search(variable):
            hint = similar or "'pgs config show' lists all settings"
            yield f"{variable} is set, but there is no such setting; {hint}"


def _warn_of_directory(settings: Settings) -> Iterator[str]:
    """Yield a sentence if a ``pgs.toml`` of the working directory is in force.

    The file may come from anyone, so the sentence names the hosts to which it sends text.
    """
    sources = settings.provenance
    if sources.place != "directory":
        return
    sentence = f"{sources.path} is in force, because it is in the working directory"
    readers = _find_reader_hosts(settings)
    if readers and any(
        sources.source(name) == "directory" for name in (*READER, *_find_endpoint_settings(sources))
    ):
        sentence += f"; text of the graph goes to {' and '.join(readers)}"
    elif settings.llm_base_url and sources.source("llm_base_url") == "directory":
        sentence += f"; it names {host_in(settings.llm_base_url)} for models"
    if settings.rerank_base_url and sources.source("rerank_base_url") == "directory":
        sentence += (
            f"; the reranker http sends text of the graph to {host_in(settings.rerank_base_url)}"
        )
    if settings.neo4j_uri and sources.source("neo4j_uri") == "directory":
        sentence += f"; the database is at {host_in(settings.neo4j_uri)}"
    yield sentence


def _find_endpoint_settings(sources: Provenance) -> list[str]:
    """Return the settings in tables of models that determine an endpoint."""
    ends = (".provider", ".base_url")
    return [name for name in sources.sources if name.startswith("models.") and name.endswith(ends)]


def _find_readers(settings: Settings) -> list[ModelAccess]:
    """Return the endpoints that receive text of the graph; empty if no text is sent.

    Raises the ConfigError of ``model_access``.
    """
    names = [settings.embedding_model] if settings.embedder == "openai" else []
    if settings.uses_models:
        names += [settings.sweep_model, settings.synthesis_model]
        names += [settings.answer_model, settings.keyword_model, settings.ordering_model]
    found = {access.base_url: access for access in (model_access(settings, n) for n in names if n)}
    if not found and names:
        found = {None: model_access(settings)}
    return list(found.values())


def _find_reader_hosts(settings: Settings) -> list[str]:
    try:
        readers = _find_readers(settings)
    except ConfigError:  # the error is raised when the endpoint is used
        return [host_in(settings.llm_base_url)] if settings.llm_base_url else []
    return list(dict.fromkeys(host_in(access.base_url or OPENAI_URL) for access in readers))


def _warn_of_plain(settings: Settings) -> Iterator[str]:
    """Yield a sentence for each secret that crosses a network without encryption."""
    try:
        models, server = _find_readers(settings), server_access(settings)
        reranker = rerank_access(settings)
    except ConfigError:
        return  # the error is raised when the address is used
    for used in (*models, reranker):
        if used and used.base_url and used.key and is_plain(used.base_url):
            yield (
                f"the key for {host_in(used.base_url)} goes over http, where others on the way can "
                "read it; use https"
            )
    if server and server.password and is_plain(server.uri):
        scheme = server.uri.partition("://")[0]
        yield (
            f"the password for {host_in(server.uri)} goes over {scheme}://, where others on the "
            f"way can read it; use {scheme}+s:// if the server has a certificate"
        )


def _warn_of_readable(sources: Provenance) -> Iterator[str]:
    """Yield a sentence if other users of this machine may read secrets in the file."""
    in_models = (name for name in sources.names if name.endswith(".api_key"))
    secrets = sorted({*sources.names.intersection(SECRETS), *in_models})
    if sources.path is None or not secrets or os.name == "nt":
        return
    try:
        mode = sources.path.stat().st_mode
    except OSError:
        return
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield (
            f"{sources.path} holds {' and '.join(secrets)}, and other users of this machine may "
            f"open it; run: chmod 600 {sources.path}"
        )
