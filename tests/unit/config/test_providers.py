"""Which endpoint a model has, and which key goes there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j import config
from pgs_neo4j.config import ModelAccess, PGSConfig, Settings, model_access
from pgs_neo4j.config.providers import PRESETS, ProviderName, recognize
from pgs_neo4j.config.trust import secrets
from pgs_neo4j.errors import ConfigError, ModelAuthError
from pgs_neo4j.llm.anthropic.chat import AnthropicLLM
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.factory import create_embedder, create_llms
from pgs_neo4j.llm.ollama.chat import OllamaLLM
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.recognizing import AskedLLM

Load = Callable[..., Settings]
KEYS = {
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "XAI_API_KEY": "sk-xai",
    "GEMINI_API_KEY": "sk-gemini",
    "AZURE_OPENAI_API_KEY": "sk-azure",
    "OPENROUTER_API_KEY": "sk-openrouter",
    "GROQ_API_KEY": "sk-groq",
    "MISTRAL_API_KEY": "sk-mistral",
}
RESOURCE = "https://mine.openai.azure.com"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load settings of a call, of a file in the working directory, and of the environment."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(config.provenance, "user_config_path", lambda _: home)

    def load_all(
        call: dict[str, Any] | None = None,
        file: str = "",
        mine: str = "",
        variables: dict[str, str] | None = None,
    ) -> Settings:
        if file:
            (here / "pgs.toml").write_text(file)
        if mine:
            (home / "pgs.toml").write_text(mine)
        for name, value in (variables or {}).items():
            monkeypatch.setenv(name, value)
        return config.load(call or {}).settings

    return load_all


def key_of(access: ModelAccess) -> str | None:
    return access.key.get_secret_value() if access.key is not None else None


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.variables])
def test_a_provider_has_its_address_and_its_customary_key(load: Load, name: ProviderName) -> None:
    call = {"llm_provider": name} | ({"llm_base_url": RESOURCE} if name == "azure" else {})
    access = model_access(load(call, variables=KEYS), "m")
    expected = f"{RESOURCE}/openai/v1" if name == "azure" else PRESETS[name].url
    assert (access.base_url or PRESETS["openai"].url) == expected
    assert (access.provider, key_of(access), access.model) == (name, f"sk-{name}", "m")
    if name not in ("azure", "openai"):
        assert recognize(str(access.base_url)) == name


@pytest.mark.parametrize("name", ["ollama", "lmstudio", "vllm", "llamacpp", "tgi"])
def test_a_server_of_this_machine_gets_no_customary_key(load: Load, name: ProviderName) -> None:
    access = model_access(load({"llm_provider": name}, variables=KEYS))
    assert (access.base_url, access.provider, access.key) == (PRESETS[name].url, name, None)


@pytest.mark.parametrize(
    ("call", "provider", "key"),
    [
        ({"llm_base_url": "https://api.groq.com/openai/v1"}, "groq", "sk-groq"),
        ({"llm_base_url": "https://api.anthropic.com/v1"}, "anthropic", "sk-anthropic"),
        ({"llm_base_url": f"{RESOURCE}/openai/v1/"}, "azure", "sk-azure"),
        ({"llm_base_url": "https://eu.api.openai.com/v1"}, "openai", "sk-openai"),
        ({"llm_provider": "openai", "llm_base_url": "https://api.x.ai/v1"}, "xai", "sk-xai"),
        ({"llm_provider": "groq", "llm_api_key": "sk-mine"}, "groq", "sk-mine"),
        ({"llm_provider": "ollama", "llm_base_url": "http://box:11434"}, "ollama", None),
        ({"llm_base_url": "http://127.0.0.1:11434/v1"}, None, None),
    ],
)
def test_an_address_shows_its_provider(
    load: Load, call: dict[str, Any], provider: str | None, key: str | None
) -> None:
    access = model_access(load(call, variables=KEYS))
    assert (access.provider, key_of(access)) == (provider, key)


@pytest.mark.parametrize(
    "call",
    [
        {"llm_provider": "groq", "llm_base_url": "https://groq.example.org/v1"},
        {"llm_provider": "azure", "llm_base_url": "https://azure.example.org/v1"},
        {"llm_provider": "azure", "llm_base_url": "http://mine.openai.azure.com"},
        {"llm_provider": "xai", "llm_base_url": "https://api.x.ai.evil.org/v1"},
        {"llm_provider": "mistral", "llm_base_url": "http://api.mistral.ai/v1"},
    ],
)
def test_a_customary_key_goes_to_its_providers_own_address_only(
    load: Load, call: dict[str, Any]
) -> None:
    settings = load(call, variables={k: v for k, v in KEYS.items() if k != "OPENAI_API_KEY"})
    assert model_access(settings).key is None


def test_a_resource_that_only_the_working_directory_names_gets_no_key(load: Load) -> None:
    """Anyone may rent a name there."""
    settings = load(
        file=f'llm_provider = "azure"\nllm_base_url = "{RESOURCE}"\n',
        variables={"AZURE_OPENAI_API_KEY": "sk-azure"},
    )
    assert model_access(settings).key is None


def test_the_key_of_all_models_goes_to_no_provider_that_the_directory_chose(load: Load) -> None:
    settings = load(file='llm_provider = "groq"\n', variables={"PGS_LLM_API_KEY": "sk-mine"})
    with pytest.raises(ConfigError, match=r"not sent to api\.groq\.com.*PGS_LLM_PROVIDER yourself"):
        model_access(settings)


TABLES = """
sweep_model = "small"
answer_model = "local"
keyword_model = "plain"
ordering_model = "paid"
llm_provider = "mistral"

[models.small]
provider = "groq"
model = "llama-3.1-8b"

[models.local]
provider = "ollama"
base_url = "http://box:11434"

[models.paid]
base_url = "https://models.example.org/v1"
api_key = "sk-example"

[models.plain]
input_price = 1.0
"""


def test_each_task_has_its_own_provider_address_and_key(load: Load) -> None:
    settings = load(mine=TABLES, variables=KEYS)
    accesses = {
        name: model_access(settings, name) for name in (*settings.models, settings.synthesis_model)
    }
    told = {name: (a.base_url, key_of(a), a.model) for name, a in accesses.items()}
    assert told == {
        "small": (PRESETS["groq"].url, "sk-groq", "llama-3.1-8b"),
        "local": ("http://box:11434", None, "local"),
        "paid": ("https://models.example.org/v1", "sk-example", "paid"),
        "plain": (PRESETS["mistral"].url, "sk-mistral", "plain"),
        "gpt-5": (PRESETS["mistral"].url, "sk-mistral", "gpt-5"),
    }
    readers = create_llms(settings, PGSConfig())
    kinds = [type(llm) for llm in readers.by_task.values()]
    assert kinds == [OpenAILLM, OpenAILLM, OllamaLLM, OpenAILLM, AskedLLM]
    assert [llm.name for llm in readers.by_task.values()] == [
        "small", "gpt-5", "local", "plain", "paid",
    ]  # fmt: skip
    assert "sk-example" in secrets(settings)
    assert "sk-example" not in repr(settings)
    assert "sk-example" not in settings.model_dump_json()


@pytest.mark.parametrize(
    "file",
    [
        '[models.m]\nbase_url = "https://evil.org/v1"\n',
        '[models.m]\nprovider = "groq"\nbase_url = "https://evil.org/v1"\n',
    ],
)
def test_a_models_key_meets_no_address_that_is_less_trusted(load: Load, file: str) -> None:
    """The tables of two sources are one, key by key."""
    settings = load(file=file, variables={"PGS_MODELS": '{"m": {"api_key": "s"}}'})
    with pytest.raises(ConfigError, match=r"models\.m\.api_key is not sent to evil\.org"):
        model_access(settings, "m")


def test_the_key_of_all_models_goes_to_no_models_own_address(load: Load) -> None:
    file = 'llm_base_url = "https://mine.org/v1"\n[models.m]\nbase_url = "https://other.org/v1"\n'
    settings = load(mine=file, variables={"PGS_LLM_API_KEY": "sk-mine"})
    assert model_access(settings, "m").key is None
    assert key_of(model_access(settings, "other")) == "sk-mine"


@pytest.mark.parametrize(
    ("call", "provider", "kind"),
    [
        ({}, "extractive", ExtractiveLLM),
        ({"sweep_model": "m", "synthesis_model": "m"}, "vllm", OpenAILLM),
        ({"sweep_model": "m", "llm_provider": "extractive"}, "extractive", ExtractiveLLM),
        ({"llm_provider": "anthropic", "llm_api_key": "k"}, "anthropic", AnthropicLLM),
        ({"llm_provider": "ollama"}, "ollama", OllamaLLM),
        ({"llm_provider": "lmstudio"}, "lmstudio", OpenAILLM),
        ({"llm_base_url": "http://127.0.0.1:9/v1"}, "openai", AskedLLM),
    ],
)
def test_the_provider_in_force_decides_the_reader(
    load: Load, call: dict[str, Any], provider: str, kind: type
) -> None:
    settings = load(call, mine='[models.m]\nprovider = "vllm"\n')
    assert settings.provider == provider
    assert isinstance(create_llms(settings, PGSConfig()).sweep, kind)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            {"llm_provider": "azure", "llm_api_key": "k"},
            ConfigError,
            "set llm_base_url to the address of",
        ),
        (
            {"sweep_model": "m", "models": {"m": {"provider": "azure"}}},
            ConfigError,
            r"set base_url under \[models\.'m'\] to the address of",
        ),
        (
            {"llm_provider": "groq"},
            ModelAuthError,
            r"no API key .* api\.groq\.com; set GROQ_API_KEY",
        ),
        (
            {"sweep_model": "m", "models": {"m": {"provider": "xai"}}},
            ModelAuthError,
            "set XAI_API_KEY, or api_key in the model's table",
        ),
        (
            {"models": {"m": {"base_url": "ftp://host"}}, "sweep_model": "m"},
            ConfigError,
            r"is not a URL of the form",
        ),
        ({"sweep_model": "m", "models": {"m": {"provider": "vllm"}}}, ModelAuthError, "no API key"),
    ],
)
def test_what_is_missing_is_named(
    load: Load, call: dict[str, Any], error: type[Exception], said: str
) -> None:
    settings = load(call)
    with pytest.raises(error, match=said):
        create_llms(settings, PGSConfig())


def test_an_unknown_provider_is_refused_with_the_known_ones(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"models\.m\.provider must be .*'ollama'"):
        load({"models": {"m": {"provider": "olama"}}})


def test_the_embedding_model_has_an_endpoint_of_its_own(load: Load) -> None:
    settings = load(
        {"embedder": "openai", "embedding_model": "words"},
        mine='[models.words]\nprovider = "ollama"\nmodel = "nomic-embed-text"\n',
    )
    embedder = create_embedder(settings, PGSConfig())
    assert embedder is not None
    assert embedder.name == "openai/nomic-embed-text"
    assert "127.0.0.1:11434" in repr(embedder._endpoint)  # type: ignore[attr-defined]
