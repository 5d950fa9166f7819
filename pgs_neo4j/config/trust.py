"""Decides which secret may go to which address, by the sources of both.

The user's own sources trust each other: the call, the environment, the file that PGS_CONFIG names,
and the file in the user's configuration directory. A ``pgs.toml`` in the working directory may come
from anyone, with a clone or an archive. So an address in it gets only secrets from the same file.
OPENAI_API_KEY is meant for other programs, so it belongs to OPENAI_BASE_URL, or else to OpenAI. In
the same way, the customary variables of other providers belong to the providers' own addresses.

No other module reads a secret from the settings; a test enforces that.
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
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.config.provenance import CUSTOMARY, Provenance, Source
from pgs_neo4j.config.providers import PRESETS, ProviderName, is_on, recognize
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

    Without ``database``, the user's home database is used. ``ca`` is a file of certificates to
    trust.
    """

    uri: str
    user: str = "neo4j"
    password: SecretStr | None = field(default=None, repr=False)
    database: str | None = None
    ca: Path | None = None


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """An address of models, and the key that may go there; without an address, OpenAI's is used.

    ``provider`` is configured or recognized by the address; None if the server must be asked.
    ``model`` is the model's name at this address.
    """

    base_url: str | None
    key: SecretStr | None = field(default=None, repr=False)
    provider: ProviderName | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class _Address:
    """An address, with its setting and its source."""

    url: str | None
    setting: str
    source: Source
    provider: ProviderName | None = None


def may_send(secret: Source, address: Source) -> bool:
    """Return whether a secret may go to an address, by their sources.

    The source of the address must be at least as trusted. A customary key goes only to a customary
    address or to a provider's default.
    """
    if secret == "customary":
        return address in ("customary", "default")
    return TRUST[address] >= TRUST[secret]


def trusted_tokens(settings: Settings) -> tuple[TokenEntry, ...]:
    """Return the tokens of the server.

    Raises ConfigError if they come from the working directory, because they would give its unknown
    author access to the server.
    """
    if settings.token and TRUST[settings.provenance.source("token")] == TRUST["directory"]:
        raise ConfigError(
            "the pgs.toml of the working directory has [[token]] tables, but it may come from "
            "anyone; move them to the pgs.toml of your configuration directory, or name the file "
            "with PGS_CONFIG"
        )
    return settings.token


def secrets(settings: Settings) -> tuple[str, ...]:
    """Return all secrets to mask in output, including the secret parts of addresses."""
    keys = [settings.neo4j_password, settings.llm_api_key, settings.rerank_api_key]
    keys += [entry.api_key for entry in settings.models.values()]
    keys += settings.provenance.customary_keys.values()
    addresses = [getattr(settings, name) for name in ADDRESSES]
    addresses += [entry.base_url for entry in settings.models.values()]
    return (
        *(key.get_secret_value() for key in keys if key is not None),
        *(text for address in addresses if address for text in secret_parts(address)),
    )


def server_access(settings: Settings) -> ServerAccess | None:
    """Return the configured Neo4j with its password; None for the managed local server.

    The local server has its own password, and no other password is sent there. Raises ConfigError
    if the address is less trusted than the password, or the certificate is less trusted than the
    address.
    """
    if settings.neo4j_uri is None:
        return None
    sources = settings.provenance
    address = sources.source("neo4j_uri")
    if settings.neo4j_password is not None:
        secret = sources.source("neo4j_password")
        if not may_send(secret, address):
            raise _refusal_error("neo4j_password", "neo4j_uri", settings.neo4j_uri, sources)
    if settings.neo4j_ca and not may_send(address, sources.source("neo4j_ca")):
        raise ConfigError(
            f"neo4j_ca in {sources.path} cannot vouch for a server that this file does not name, "
            "because the file is only in the working directory; set PGS_NEO4J_CA instead"
        )
    return ServerAccess(
        uri=settings.neo4j_uri,
        user=settings.neo4j_user,
        password=settings.neo4j_password,
        database=settings.neo4j_database,
        ca=_find_certificate(settings),
    )


def model_access(settings: Settings, model: str | None = None) -> ModelAccess:
    """Return the endpoint of a model with its key; without a model, the endpoint of all models.

    A model's own table overrides the general settings. A customary key is not sent to this machine,
    where servers usually need no key. Raises ConfigError if a key must not go to its endpoint, or
    if the provider has no fixed address and none is set.
    """
    entry = settings.models.get(model) if model is not None else None
    if entry is None:
        return _general_access(settings, model)
    if not entry.has_endpoint and entry.api_key is None:
        return _general_access(settings, entry.model or model)
    address = _choose_address(settings, str(model), entry)
    key = _choose_key(settings, str(model), entry, address)
    return ModelAccess(address.url, key, address.provider, entry.model or model)


def _general_access(settings: Settings, model: str | None) -> ModelAccess:
    """Return the endpoint, with its key, of all models without an endpoint of their own."""
    address, sources = _general_address(settings), settings.provenance
    key, secret = settings.llm_api_key, sources.source("llm_api_key")
    others = secret == "customary" and address.provider not in (None, "openai")
    if key is None or others:
        key = _find_customary_key(address, sources)
    unnamed = settings.llm_provider in (None, "openai")
    if key is None and others and unnamed:
        raise _refusal_error("llm_api_key", address.setting, str(address.url), sources)
    if settings.llm_api_key is None or others or address.url is None:
        return ModelAccess(address.url, key, address.provider, model)
    if may_send(secret, address.source) or _is_home(address.url, sources):
        return ModelAccess(address.url, key, address.provider, model)
    if secret == "customary" and is_loopback(address.url):
        return ModelAccess(address.url, None, address.provider, model)
    raise _refusal_error("llm_api_key", address.setting, address.url, sources)


def _general_address(settings: Settings) -> _Address:
    """Return the address of all models without an endpoint of their own."""
    sources, url = settings.provenance, settings.llm_base_url
    named = settings.llm_provider if settings.llm_provider != "extractive" else None
    if named not in (None, "openai") and sources.source("llm_base_url") == "customary":
        url = None  # OPENAI_BASE_URL belongs to another provider's interface
    if url is not None:
        return _Address(
            _complete_url(url, named),
            "llm_base_url",
            sources.source("llm_base_url"),
            _find_provider(url, named),
        )
    if named is None or named == "openai":
        return _Address(None, "llm_base_url", "default", "openai")
    return _Address(
        _find_preset_url(named, "llm_base_url"),
        "llm_provider",
        sources.source("llm_provider"),
        named,
    )


def _choose_address(settings: Settings, model: str, entry: ModelEntry) -> _Address:
    """Return the address in a model's table, or else the address of all models."""
    if not entry.has_endpoint:
        return _general_address(settings)
    sources = settings.provenance
    if entry.base_url is not None:
        setting = f"models.{model}.base_url"
        url = _complete_url(entry.base_url, entry.provider)
        return _Address(url, setting, sources.source(setting), _find_provider(url, entry.provider))
    assert entry.provider is not None
    setting = f"models.{model}.provider"
    url = _find_preset_url(entry.provider, f"base_url under [models.{model!r}]")
    return _Address(url, setting, sources.source(setting), entry.provider)


def _choose_key(
    settings: Settings, model: str, entry: ModelEntry, address: _Address
) -> SecretStr | None:
    """Return the key for a model's endpoint: its own, the key of all models, or a customary key.

    The key of all models is sent only to the endpoint of all models. Raises ConfigError if the
    model's own key must not go to its endpoint.
    """
    sources = settings.provenance
    if entry.api_key is None:
        general = _general_address(settings)
        same = general.url == address.url and settings.llm_api_key is not None
        if same and settings.provider != "extractive":
            return _general_access(settings, model).key
        return _find_customary_key(address, sources)
    name = f"models.{model}.api_key"
    if may_send(sources.source(name), address.source):
        return entry.api_key
    raise ConfigError(
        f"{name} is not sent to {host_in(address.url or OPENAI_URL)}, because that address comes "
        f"from {sources.path} in the working directory; if it may have the key, set "
        f"PGS_CONFIG={sources.path}"
    )


def _find_customary_key(address: _Address, sources: Provenance) -> SecretStr | None:
    """Return the customary key of a provider if the address is the provider's own."""
    name = address.provider
    if name is None:
        return None
    preset, url = PRESETS[name], address.url or OPENAI_URL
    home = preset.url is not None and is_same_server(url, preset.url) and not is_loopback(url)
    # Anyone may rent a name on such a domain, so a file of the working directory may not choose it.
    rented = TRUST[address.source] > TRUST["directory"] and is_on(url, preset.domains)
    if not (home or rented):
        return None
    if name == "openai" and sources.customary_url and not is_openai(sources.customary_url):
        return None  # OPENAI_API_KEY belongs to the address in OPENAI_BASE_URL
    keys = (sources.customary_keys.get(variable) for variable in preset.variables)
    return next((key for key in keys if key is not None), None)


def _find_provider(url: str, named: ProviderName | None) -> ProviderName | None:
    """Return the configured provider of an address, or else the provider that owns the address.

    If ``openai`` is configured, the address decides, because many servers have OpenAI's interface.
    """
    return recognize(url) if named in (None, "openai") else named


def _complete_url(url: str, named: ProviderName | None) -> str:
    """Add the path of the interface to an Azure address without a path; return others unchanged."""
    azure = (named or recognize(url)) == "azure"
    return f"{url.rstrip('/')}/openai/v1" if azure and url.rstrip("/").count("/") == 2 else url


def _find_preset_url(name: ProviderName, setting: str) -> str:
    url = PRESETS[name].url
    if url is None:
        raise ConfigError(
            f"the provider {name} has no address that all customers share; set {setting} to the "
            "address of your resource"
        )
    return url


def rerank_access(settings: Settings) -> ModelAccess | None:
    """Return the endpoint of the reranker with its key; None if no address is set.

    Raises ConfigError if the key must not go to the endpoint.
    """
    url, key, sources = settings.rerank_base_url, settings.rerank_api_key, settings.provenance
    if url is None:
        return None
    if key is None or may_send(sources.source("rerank_api_key"), sources.source("rerank_base_url")):
        return ModelAccess(url, key)
    raise _refusal_error("rerank_api_key", "rerank_base_url", url, sources)


def embedding_model(settings: Settings, default: str) -> str:
    """Return the name or folder of the sentence-transformers model.

    Loading a model runs code in its folder. So this raises ConfigError for a folder that the user
    did not name: a folder named by a file of the working directory, or a folder in the working
    directory with the name of the default model.
    """
    name = settings.embedding_model or default
    source = settings.provenance.source("embedding_model")
    named = settings.embedding_model is not None and source not in ("directory", "default")
    if not named and Path(name).exists():
        where = settings.provenance.path if settings.embedding_model else "the working directory"
        raise ConfigError(
            f"{where} makes embedding_model the folder {name}, so pgs does not run the code in "
            f"it; if you trust it, set PGS_EMBEDDING_MODEL={Path(name).absolute()}"
        )
    return name


def trusted_code_name(settings: Settings, name: str) -> str | None:
    """Return a setting of the form ``package.module:name``, whose code will run; None if unset.

    Raises ConfigError if only a file of the working directory names it.
    """
    code: str | None = getattr(settings, name)
    sources = settings.provenance
    if code is None or sources.source(name) != "directory":
        return code
    raise ConfigError(
        f"{sources.path} is a file of the working directory, so pgs does not run the code that its "
        f"{name} names; if you trust it, set PGS_{name.upper()}={code}, or "
        f"PGS_CONFIG={sources.path}"
    )


def explain_key(settings: Settings) -> str:
    """Return the reason that the key is not sent to the endpoint.

    It is empty if the key is sent, or if there is no key.
    """
    try:
        access = model_access(settings)
    except ConfigError as error:
        return str(error)
    if settings.llm_api_key is None or access.key is not None:
        return ""
    if access.base_url is None or not is_loopback(access.base_url):
        return f"OPENAI_API_KEY does not belong to {host_in(access.base_url or OPENAI_URL)}"
    return "a server on this machine is used without OPENAI_API_KEY, which belongs elsewhere"


def _is_home(url: str, sources: Provenance) -> bool:
    """Return whether OPENAI_API_KEY belongs to an address.

    The key belongs to the server in OPENAI_BASE_URL, or else to OpenAI.
    """
    home = sources.customary_url
    return is_same_server(url, home) if home else is_openai(url or OPENAI_URL)


def _refusal_error(secret: str, address: str, url: str, sources: Provenance) -> ConfigError:
    """Return the error for a secret that must not go to an address, with its sources."""
    host, where = host_in(url), _describe_source(address, sources)
    key, variable = f"PGS_{secret.upper()}", f"PGS_{address.upper()}"
    if sources.source(secret) != "customary":
        return ConfigError(
            f"{secret} from {_describe_source(secret, sources)} is not sent to {host}, because "
            "that address "
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


def _describe_source(name: str, sources: Provenance) -> str:
    source = sources.source(name)
    if source in IN_FILES:
        return str(sources.path)
    return "the call" if source == "call" else f"PGS_{name.upper()}"


def _find_certificate(settings: Settings) -> Path | None:
    """Return the file of certificates. A relative path in ``pgs.toml`` starts at that file."""
    if not settings.neo4j_ca:
        return None
    path = Path(settings.neo4j_ca).expanduser()
    sources = settings.provenance
    in_file = sources.source("neo4j_ca") in IN_FILES
    return sources.path.parent / path if in_file and sources.path is not None else path
