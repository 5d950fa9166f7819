"""Settings: published defaults, precedence, origins, refusals by name, masked secrets."""

import pytest

from pgs_neo4j import config
from pgs_neo4j.database.lease import LONGEST_S
from pgs_neo4j.engine.connecting import ARGUMENTS
from pgs_neo4j.errors import ConfigError


@pytest.fixture
def toml(here):
    def write(text):
        (here / "pgs.toml").write_text(text, encoding="utf-8")

    return write


def test_default_then_file_then_environment_then_call(toml, monkeypatch):
    def value_and_origin(**overrides):
        loaded = config.load(overrides)
        name = "max_sweep_partitions"
        return getattr(loaded.config, name), loaded.origins[name]

    assert value_and_origin() == (15, "default")
    toml("max_sweep_partitions = 3")
    assert value_and_origin() == (3, "file")
    monkeypatch.setenv("PGS_MAX_SWEEP_PARTITIONS", "4")
    assert value_and_origin() == (4, "environment")
    assert value_and_origin(max_sweep_partitions=5) == (5, "call")


def test_numbers_of_64_bits_are_taken_and_leases_and_prices_are_bounded():
    assert config.load({"random_seed": 2**63 - 1}).config.random_seed == 2**63 - 1
    config.load({"lease_s": LONGEST_S})
    with pytest.raises(ConfigError, match="PGS_LEASE_S"):
        config.load({"lease_s": LONGEST_S + 1})
    with pytest.raises(ConfigError, match=r"models\.m\.input_price"):
        config.load({"models": {"m": {"input_price": 1e300}}})
    with pytest.raises(ConfigError, match=r"models\.m\.context"):
        config.load({"models": {"m": {"context": 10**30}}})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sweep_fraction", 0.05),
        ("sweep_fraction", 1.5),
        ("max_concurrent_sweeps", 0),
        ("target_partition_max", 1),
        ("partition_relevance_threshold", 2),
        ("algorithm", "kmeans"),
        ("llm_provider", "guess"),
        ("embedder", "magic"),
        ("random_seed", "many"),
        ("random_seed", 99999999999999999999),
        ("max_tokens", 10**30),
        ("cache_mb", 1e300),
        ("query_timeout_s", 1e300),
        ("model_timeout_s", float("inf")),
        ("embedding_dimensions", 2**63),
    ],
)
def test_values_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=f"PGS_{name.upper()}"):
        config.load({name: value})


def test_an_unknown_name_and_a_broken_file_are_refused_by_name(toml, monkeypatch):
    with pytest.raises(ConfigError, match="did you mean max_sweep_partitions"):
        config.load({"max_sweep_partition": 3})
    with pytest.raises(ConfigError, match=r"sets swep_llm.*did you mean sweep_llm\?"):
        config.load({"swep_llm": 3}, ARGUMENTS)
    with pytest.raises(ConfigError, match=r"sets chunkr.*did you mean chunker\?"):
        config.with_overrides(config.PGSConfig(), {"chunkr": 3}, ("chunker",))
    toml("sweep_fractoin = 0.5")
    with pytest.raises(ConfigError, match=r"pgs\.toml sets sweep_fractoin.*sweep_fraction"):
        config.load()
    toml("max_sweep_partitions = = 3")
    with pytest.raises(ConfigError, match=r"pgs\.toml cannot be read"):
        config.load()
    monkeypatch.setenv("PGS_CONFIG", "/nowhere/pgs.toml")
    with pytest.raises(ConfigError, match="PGS_CONFIG names"):
        config.load()


@pytest.mark.parametrize("name", ["PGS_MAX_COST", "pgs_max_calls", "PGS_RUN_TIMEOUT_S"])
def test_an_empty_limit_is_refused_and_no_lack_of_one(name, toml, monkeypatch):
    monkeypatch.setenv(name, " ")
    with pytest.raises(ConfigError, match=f"{name} is empty; write the limit, write none for"):
        config.load()
    monkeypatch.setenv(name, "none")
    monkeypatch.setenv("PGS_GRAPH", "")
    toml('graph = "papers"')
    assert config.load().settings.graph == "papers"


@pytest.mark.parametrize(
    "name",
    [
        "sweep_effort", "synthesis_effort", "embedding_dimensions", "max_calls", "max_tokens",
        "max_cost", "run_timeout_s", "tokens_per_minute", "max_pass_tokens", "sweep_fraction",
    ],
)  # fmt: skip
def test_what_may_be_none_can_be_said_to_be(name, toml, monkeypatch):
    def value(loaded):
        return getattr(loaded.settings if name in fields else loaded.config, name)

    fields = config.Settings.model_fields
    toml(f'{name} = "none"')
    assert value(config.load()) is None
    toml("")
    monkeypatch.setenv(f"PGS_{name.upper()}", "none")
    assert value(config.load()) is None
    assert value(config.load({name: "none"})) is None


def test_every_description_that_says_none_is_true():
    """Where "none" is no way to leave a setting unset, its text says "unset"."""
    for cls in (config.Settings, config.PGSConfig):
        for name, field in cls.model_fields.items():
            if "none:" in field.description:  # type: ignore[operator]
                assert config.NoneAllowed in field.metadata, name


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:p@ss@host/v1", "https://***@host/v1"),
        ("https://u:p/a?b#c@host/v1", "https://***@host/v1"),
        ("https://host/v1?api-key=SECRET&x=1#part", "https://host/v1?***"),
        ("user:pass@host", "***@host"),
        ("bolt+s://host:7687", "bolt+s://host:7687"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, shown):
    assert config.masked_address(address) == shown
    settings = config.Settings(neo4j_uri=address, llm_base_url=address, rerank_base_url=address)
    assert (settings.neo4j_uri, settings.llm_base_url) == (address, address)
    dumped = settings.model_dump()
    assert (dumped["neo4j_uri"], dumped["llm_base_url"]) == (shown, shown)
    for text in (repr(settings), str(settings), settings.model_dump_json()):
        assert text.count(shown) == 3
        assert address == shown or address not in text


def test_secrets_are_masked_everywhere_and_an_invalid_one_is_not_quoted(toml, monkeypatch):
    toml('neo4j_password = "hunter2-file"')
    monkeypatch.setenv("PGS_LLM_API_KEY", "sk-hunter2")
    loaded = config.load()
    assert loaded.settings.neo4j_password.get_secret_value() == "hunter2-file"
    for text in (repr(loaded), str(loaded.settings), loaded.settings.model_dump_json()):
        assert "hunter2" not in text
    with pytest.raises(ConfigError) as caught:
        config.load({"neo4j_password": ["hunter2"]})
    assert "hunter2" not in str(caught.value)


def test_a_reader_is_chosen_by_key_and_address_and_ours_win_over_the_customary_names(monkeypatch):
    assert config.load().settings.provider == "extractive"
    assert config.load({"llm_base_url": "http://127.0.0.1:1/v1"}).settings.provider == "openai"
    assert config.load({"llm_provider": "openai"}).settings.provider == "openai"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-customary")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    loaded = config.load()
    assert loaded.settings.llm_api_key.get_secret_value() == "sk-customary"
    assert loaded.settings.llm_base_url == "http://127.0.0.1:1/v1"
    assert loaded.settings.provider == "openai"
    assert loaded.origins["llm_api_key"] == "environment"
    monkeypatch.setenv("PGS_LLM_API_KEY", "sk-ours")
    assert config.load().settings.llm_api_key.get_secret_value() == "sk-ours"


def test_models_are_a_table_of_prices_in_file_or_environment(toml, monkeypatch):
    toml('[models."gpt-5-mini"]\ninput_price = 0.25\noutput_price = 2\ncontext = 272000\n')
    found = config.load().settings.models["gpt-5-mini"]
    assert (found.input_price, found.output_price, found.context) == (0.25, 2.0, 272000)
    monkeypatch.setenv("PGS_MODELS", '{"m": {"input_price": 1}}')
    assert set(config.load().settings.models) == {"gpt-5-mini", "m"}
    monkeypatch.setenv("PGS_MODELS", '{"m": {"price": 1}}')
    with pytest.raises(ConfigError, match=r"models.m.price is unknown; did you mean input_price\?"):
        config.load()


def test_knobs_are_stored_and_come_back_with_what_was_set():
    knobs = config.with_overrides(config.PGSConfig(), {"max_tokens": 5000, "sweep_fraction": 0.5})
    again = config.restored(config.stored(knobs), {"max_tokens": None, "max_calls": 7})
    assert (again.max_tokens, again.sweep_fraction, again.max_calls) == (5000, 0.5, 7)
    assert again.model_fields_set == {"max_tokens", "sweep_fraction", "max_calls"}
    assert config.restored(config.stored(knobs), {"max_tokens": "none"}).max_tokens is None
    with pytest.raises(ConfigError, match="max_calls"):
        config.restored(config.stored(knobs), {"max_calls": 0})


@pytest.mark.parametrize(
    ("own", "most", "lower"),
    [(1.0, 5.0, 1.0), (5.0, 1.0, 1.0), (None, 5.0, 5.0), (1.0, None, 1.0), (None, None, None)],
)
def test_the_lower_limit_of_stored_knobs_and_another_one(
    own: float | None, most: float | None, lower: float | None
) -> None:
    text = config.stored(config.PGSConfig(max_cost=own))
    assert config.lower_limit(text, "max_cost", most) == lower
