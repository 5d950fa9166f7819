"""A temperature, and properties of a server's own, in the requests of each wire."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.cli.options import model_settings
from pgs_neo4j.config import PGSConfig, Settings, load
from pgs_neo4j.errors import ConfigError, UsageError
from pgs_neo4j.llm.factory import create_llms, require_models
from pgs_neo4j.llm.protocol import reply_signature
from pgs_neo4j.model import Prompt
from tests.fakes.anthropic_server import KEY, FakeAnthropic
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI

PROMPT = Prompt(task="sweep", system="read", user="why?", question="why?")


def settings_at(url: str, **given: Any) -> Settings:
    return Settings.model_validate(
        {
            "llm_provider": "openai",
            "llm_base_url": url,
            "llm_api_key": "k",
            "sweep_model": "m",
            "synthesis_model": "other",
            **given,
        }
    )


async def test_an_openai_endpoint_gets_both(fake: FakeOpenAI) -> None:
    extra = {"top_k": 40, "chat_template_kwargs": {"enable_thinking": False}}
    table = {"m": {"temperature": 0.1, "extra_body": extra}}
    readers = create_llms(settings_at(fake.base_url, temperature=0.7, models=table), PGSConfig())
    plain = create_llms(settings_at(fake.base_url), PGSConfig())
    try:
        for llm in (readers.sweep, readers.synthesis, plain.sweep):
            await llm.complete(PROMPT, max_tokens=50)
        first, second, third = [chat.body for chat in fake.chats]
        assert (first["temperature"], first["top_k"]) == (0.1, 40)
        assert first["chat_template_kwargs"] == {"enable_thinking": False}
        assert second["temperature"] == 0.7
        assert "top_k" not in second
        assert not {"temperature", "top_k"} & third.keys()
        # Another parameter makes another reply, so the cache tells them apart.
        assert reply_signature(readers.sweep) != reply_signature(plain.sweep)
    finally:
        await readers.close()
        await plain.close()


async def test_ollama_gets_both_by_its_own_interface(fake: FakeOpenAI) -> None:
    ollama = FakeOllama(model="m").put_before(fake)
    extra = {"keep_alive": "1h", "options": {"top_k": 40, "num_ctx": 7, "temperature": 2}}
    table = {"m": {"temperature": 0.1, "extra_body": extra}}
    given = {"llm_provider": "ollama", "synthesis_model": "m", "llm_api_key": None}
    root = fake.base_url.removesuffix("/v1")
    readers = create_llms(settings_at(root, models=table, **given), PGSConfig())
    plain = create_llms(settings_at(root, temperature=0.7, **given), PGSConfig())
    bare = create_llms(settings_at(root, **given), PGSConfig())
    try:
        for llm in (readers.sweep, plain.sweep, bare.sweep):
            await llm.complete(PROMPT, max_tokens=50)
        first, second, third = ollama.bodies
        assert first["keep_alive"] == "1h"
        assert first["options"]["top_k"] == 40
        # What is counted and checked stays ours, and the table's own temperature counts.
        assert first["options"]["temperature"] == 0.1
        assert first["options"]["num_predict"] == 50
        assert first["options"]["num_ctx"] > 7
        assert second["options"]["temperature"] == 0.7
        assert not {"keep_alive"} & second.keys()
        assert not {"top_k", "temperature"} & third["options"].keys()
        assert len({reply_signature(one.sweep) for one in (readers, plain, bare)}) == 3
    finally:
        for one in (readers, plain, bare):
            await one.close()


async def test_anthropic_gets_both_by_its_own_interface() -> None:
    extra = {"top_k": 40, "metadata": {"user_id": "u1"}}
    table = {"claude": {"temperature": 0.1, "extra_body": extra}}
    given = {"llm_provider": "anthropic", "sweep_model": "claude", "synthesis_model": "claude"}
    given["llm_api_key"] = KEY
    async with FakeAnthropic() as fake:
        made = [
            create_llms(settings_at(fake.base_url, **given, **more), PGSConfig())
            for more in ({"models": table}, {"temperature": 0.7}, {})
        ]
        try:
            for readers in made:
                await readers.sweep.complete(PROMPT, max_tokens=50)
            first, second, third = [chat.body for chat in fake.chats]
            assert (first["temperature"], first["top_k"]) == (0.1, 40)
            assert first["metadata"] == {"user_id": "u1"}
            assert first["max_tokens"] == 50
            assert second["temperature"] == 0.7
            assert not {"top_k", "metadata"} & second.keys()
            assert not {"temperature", "top_k", "metadata"} & third.keys()
            assert len({reply_signature(one.sweep) for one in made}) == 3
        finally:
            for readers in made:
                await readers.close()


@pytest.mark.parametrize("unset", [("sweep_model", "synthesis_model"), ("synthesis_model",)])
async def test_a_provider_without_a_model_names_those_that_it_has(
    fake: FakeOpenAI, unset: tuple[str, ...]
) -> None:
    FakeOllama(model="qwen3:8b").put_before(fake)
    root = fake.base_url.removesuffix("/v1")
    given = {"llm_provider": "ollama", "llm_base_url": root, "sweep_model": "qwen3:8b"}
    settings = Settings.model_validate({k: v for k, v in given.items() if k not in unset})
    with pytest.raises(ConfigError) as caught:
        await require_models(settings, PGSConfig())
    variables = " and ".join(f"PGS_{name.upper()}" for name in unset)
    assert str(caught.value) == (
        f"no model is set, and ollama has no default one; set {variables}, or pass --model NAME; "
        "it has qwen3:8b"
    )
    assert fake.chats == []


async def test_a_provider_that_cannot_be_asked_still_gets_one_sentence() -> None:
    given = {"llm_provider": "ollama", "llm_base_url": "http://127.0.0.1:9"}
    with pytest.raises(ConfigError, match=r"no model is set.*which models it has is unknown"):
        await require_models(Settings.model_validate(given), PGSConfig())


async def test_a_model_that_is_set_or_that_the_server_has_asks_and_refuses_nothing(
    fake: FakeOpenAI,
) -> None:
    root = fake.base_url.removesuffix("/v1")
    named = {"sweep_model": "m", "synthesis_model": "m"}
    ollama = {"llm_provider": "ollama", "llm_base_url": root}
    for given in (ollama | named, {"llm_base_url": fake.base_url}, {"llm_provider": "extractive"}):
        await require_models(Settings.model_validate(given), PGSConfig())
    assert fake.requests == []
    FakeOllama(model="gpt-5").put_before(fake)
    await require_models(Settings.model_validate(ollama | {"sweep_model": "m"}), PGSConfig())


@pytest.mark.parametrize(
    ("variables", "why"),
    [({}, "no endpoint is set"), ({"PGS_LLM_PROVIDER": "extractive"}, "is extractive")],
)
def test_a_model_for_the_extractive_reader_is_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], why: str
) -> None:
    for name in ("PGS_LLM_PROVIDER", "PGS_LLM_BASE_URL", "PGS_LLM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"--model qwen3 would have no effect, because .*{why}"):
        model_settings("qwen3")
    monkeypatch.setenv("PGS_LLM_PROVIDER", "ollama")
    assert model_settings("qwen3")["synthesis_model"] == "qwen3"
    assert model_settings(None) == {}


@pytest.mark.parametrize("name", ["model", "messages", "max_tokens", "stream", "n"])
def test_what_requests_set_themselves_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"requests set {name} themselves"):
        load({"models": {"m": {"extra_body": {name: 1}}}})


def test_a_mistyped_provider_has_one_sentence_with_all_names() -> None:
    with pytest.raises(ConfigError) as caught:
        load({"llm_provider": "olama"})
    said = str(caught.value)
    assert said.count("must be") == 1
    assert said.endswith("or 'extractive'; did you mean 'ollama'?")
