"""Decides which secret may go to which address, by where each comes from.

The user's own sources trust each other: the call, the environment, the file that PGS_CONFIG names,
and the one in the user's configuration directory. A ``pgs.toml`` in the working directory may come
from anyone, with a clone or an archive, so an address in it gets no secret but its own.
OPENAI_API_KEY was given to other programs, so it belongs to OPENAI_BASE_URL, or else to OpenAI.

Nothing else reads a secret from the settings; a test holds that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from pgs_neo4j.config.addresses import (
    OPENAI_URL,
    host_in,
    is_loopback,
    is_openai,
    is_same_server,
    secret_parts,
)
from pgs_neo4j.config.provenance import CUSTOMARY, Provenance, Source
from pgs_neo4j.config.settings import ADDRESSES, Settings
from pgs_neo4j.config.token_table import TokenEntry
from pgs_neo4j.errors import ConfigError

TRUST: dict[Source, int] = {
    "directory": 0,
    "user": 1,
    "named": 1,
    "environment": 1,
    "call": 1,
    "customary": 1,
    "default": 2,  # an address of the package itself
}
IN_FILES: tuple[Source, ...] = ("named", "user", "directory")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAccess:
    """An address of Neo4j with the secrets that may go there.

    Without a database, the user's home database. ``ca`` is a file of certificates to trust.
    """

    uri: str
    user: str = "neo4j"
    password: SecretStr | None = field(default=None, repr=False)
    database: str | None = None
    ca: Path | None = None


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """An address of models with the key that may go there; None is OpenAI's."""

    base_url: str | None
    key: SecretStr | None = field(default=None, repr=False)


def may_meet(secret: Source, address: Source) -> bool:
    """Return whether a secret may go to an address: one that is no less trusted."""
    if secret == "customary":
        return address in ("customary", "default")
    return TRUST[address] >= TRUST[secret]


def trusted_tokens(settings: Settings) -> tuple[TokenEntry, ...]:
    """Return the tokens of the server.

    Raises ConfigError if they come with the working directory, whose author they would let in.
    """
    if settings.token and TRUST[settings.provenance.source("token")] == TRUST["directory"]:
        raise ConfigError(
            "pgs.toml of the working directory has [[token]], and may come from anyone; move it to "
            "the pgs.toml of your configuration directory, or name the file with PGS_CONFIG"
        )
    return settings.token


def secrets(settings: Settings) -> tuple[str, ...]:
    """Return all texts that must not be shown, also those inside addresses, to mask them."""
    keys = (settings.neo4j_password, settings.llm_api_key, settings.rerank_api_key)
    addresses = (getattr(settings, name) for name in ADDRESSES)
    return (
        *(key.get_secret_value() for key in keys if key is not None),
        *(text for address in addresses if address for text in secret_parts(address)),
    )


def server_access(settings: Settings) -> ServerAccess | None:
    """Return the configured Neo4j with its password; None: the managed local server.

    The local server has a password of its own, and no other ever goes there. Raises ConfigError
    when the password, or a certificate that vouches for the server, comes from elsewhere.
    """
    if settings.neo4j_uri is None:
        return None
    sources = settings.provenance
    address = sources.source("neo4j_uri")
    if settings.neo4j_password is not None:
        secret = sources.source("neo4j_password")
        if not may_meet(secret, address):
            raise _refusal("neo4j_password", "neo4j_uri", settings.neo4j_uri, sources)
    if settings.neo4j_ca and not may_meet(address, sources.source("neo4j_ca")):
        raise ConfigError(
            f"neo4j_ca in {sources.path} cannot vouch for a server that this file does not name, "
            "because the file is only in the working directory; set PGS_NEO4J_CA instead"
        )
    return ServerAccess(
        uri=settings.neo4j_uri,
        user=settings.neo4j_user,
        password=settings.neo4j_password,
        database=settings.neo4j_database,
        ca=_certificate(settings),
    )


def model_access(settings: Settings) -> ModelAccess:
    """Return the endpoint of models with its key.

    OPENAI_API_KEY stays out of calls to this machine, which need no key as a rule. Raises
    ConfigError when the key must not go to the endpoint.
    """
    url, key, sources = settings.llm_base_url, settings.llm_api_key, settings.provenance
    if key is None or url is None:
        return ModelAccess(url, key)
    secret, address = sources.source("llm_api_key"), sources.source("llm_base_url")
    if may_meet(secret, address) or _is_home(url, sources):
        return ModelAccess(url, key)
    if secret == "customary" and is_loopback(url):
        return ModelAccess(url)
    raise _refusal("llm_api_key", "llm_base_url", url, sources)


def rerank_access(settings: Settings) -> ModelAccess | None:
    """Return the endpoint that orders texts with its key; None if no address is set.

    Raises ConfigError when the key must not go to the endpoint.
    """
    url, key, sources = settings.rerank_base_url, settings.rerank_api_key, settings.provenance
    if url is None:
        return None
    if key is None or may_meet(sources.source("rerank_api_key"), sources.source("rerank_base_url")):
        return ModelAccess(url, key)
    raise _refusal("rerank_api_key", "rerank_base_url", url, sources)


def embedding_model(settings: Settings, default: str) -> str:
    """Return the model of sentence-transformers, which runs code that its folder holds.

    Raises ConfigError for a folder that the user has not named: one that a file of the working
    directory names, or that stands there in place of the default model.
    """
    name = settings.embedding_model or default
    source = settings.provenance.source("embedding_model")
    named = settings.embedding_model is not None and source not in ("directory", "default")
    if not named and Path(name).exists():
        where = settings.provenance.path if settings.embedding_model else "the working directory"
        raise ConfigError(
            f"embedding_model is the folder {name} because of {where}, and the code in it would "
            f"run; if you trust it, set PGS_EMBEDDING_MODEL={Path(name).absolute()}"
        )
    return name


def named_code(settings: Settings, name: str) -> str | None:
    """Return the ``package.module:name`` of a setting, whose code will run; None if it is unset.

    Raises ConfigError if only a file of the working directory names it.
    """
    code: str | None = getattr(settings, name)
    sources = settings.provenance
    if code is None or sources.source(name) != "directory":
        return code
    raise ConfigError(
        f"{name} in {sources.path} names code that would run, and that file is only in the working "
        f"directory; if you trust it, set PGS_{name.upper()}={code}, or PGS_CONFIG={sources.path}"
    )


def explain_key(settings: Settings) -> str:
    """Return why the key is not sent to the endpoint; empty if it is, or without a key."""
    try:
        access = model_access(settings)
    except ConfigError as error:
        return str(error)
    if settings.llm_api_key is None or access.key is not None:
        return ""
    return "a server on this machine is used without OPENAI_API_KEY, which belongs elsewhere"


def _is_home(url: str, sources: Provenance) -> bool:
    """Return whether a key would go to this server even if nothing had named it."""
    home = sources.customary_url
    return is_same_server(url, home) if home else is_openai(url or OPENAI_URL)


def _refusal(secret: str, address: str, url: str, sources: Provenance) -> ConfigError:
    host, where = host_in(url), _where(address, sources)
    key, variable = f"PGS_{secret.upper()}", f"PGS_{address.upper()}"
    if sources.source(secret) != "customary":
        return ConfigError(
            f"{secret} from {_where(secret, sources)} is not sent to {host}, because that address "
            f"comes from {where} in the working directory; if {host} may have it, set "
            f"PGS_CONFIG={sources.path}, or set {variable} yourself"
        )
    owner = "OPENAI_BASE_URL" if sources.customary_url else "OpenAI"
    wanted = f"{key} to the key for {host} (any text if it needs none)"
    if sources.source(address) == "directory":
        where, wanted = f"{where} in the working directory", f"{variable} yourself, and {wanted}"
    return ConfigError(
        f"{CUSTOMARY[secret]} belongs to {owner} and is not sent to {host}, an address that comes "
        f"from {where}; set {wanted}"
    )


def _where(name: str, sources: Provenance) -> str:
    source = sources.source(name)
    if source in IN_FILES:
        return str(sources.path)
    return "the call" if source == "call" else f"PGS_{name.upper()}"


def _certificate(settings: Settings) -> Path | None:
    """Return the file of certificates; a relative path starts at the file that names it."""
    if not settings.neo4j_ca:
        return None
    path = Path(settings.neo4j_ca).expanduser()
    sources = settings.provenance
    in_file = sources.source("neo4j_ca") in IN_FILES
    return sources.path.parent / path if in_file and sources.path is not None else path
