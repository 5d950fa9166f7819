"""A temperature, and properties of a server's own, in the requests of each wire."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig, Settings, load
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.factory import create_llms
from pgs_neo4j.llm.protocol import reply_signature
from pgs_neo4j.model import Prompt
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


@pytest.mark.parametrize("name", ["model", "messages", "max_tokens", "stream", "n"])
def test_what_requests_set_themselves_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"requests set {name} themselves"):
        load({"models": {"m": {"extra_body": {name: 1}}}})


def test_a_mistyped_provider_has_one_sentence_with_all_names() -> None:
    with pytest.raises(ConfigError) as caught:
        load({"llm_provider": "olama"})
    said = str(caught.value)
    assert said.count("is out of range") == 1
    assert "did you mean 'ollama'?" in said
    assert said.endswith("or 'extractive'")
