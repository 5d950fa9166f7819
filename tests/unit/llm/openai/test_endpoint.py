"""Which endpoints are accepted, and what is said about the others."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from pgs_neo4j.errors import ConfigError, ModelAuthError
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint

KEY = SecretStr("sk-1")


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hidden@host/v1",
        "https://user:p@hidden@host/v1",
        "https://host/v1?api-key=hidden",
        "https://host/v1#hidden",
        "user:hidden@host/v1",
    ],
)
def test_an_address_with_secrets_is_refused_without_an_echo(url: str) -> None:
    with pytest.raises(ConfigError, match="give the key as PGS_LLM_API_KEY") as caught:
        Endpoint(url, KEY)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["host/v1", "localhost:11434", "ftp://host", "http://", "https://host:0/v1", "http://h:x/v1",
     "ü"],
)  # fmt: skip
def test_what_is_no_address_is_refused_by_the_name_of_its_setting(url: str) -> None:
    with pytest.raises(ConfigError, match=r"PGS_LLM_BASE_URL.* is not a URL"):
        Endpoint(url, KEY)


def test_the_public_endpoint_needs_a_key_that_can_be_one() -> None:
    for missing in (None, SecretStr("  ")):
        with pytest.raises(ModelAuthError, match=r"PGS_LLM_API_KEY \(or OPENAI_API_KEY\)"):
            Endpoint(api_key=missing)
    for key in ("line\nbreak", "schlüssel"):
        with pytest.raises(ModelAuthError) as caught:
            Endpoint(api_key=SecretStr(key))
        assert key not in str(caught.value)
    assert Endpoint(api_key=KEY).official


def test_a_model_is_named_by_host_and_port_and_without_its_key() -> None:
    llm = OpenAILLM("m", Endpoint("http://127.0.0.1:1/v1", KEY))
    assert repr(llm) == "OpenAILLM('m' at '127.0.0.1:1')"
    assert KEY.get_secret_value() not in repr(llm._endpoint)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("https://host/ok/v1", "https://host/x/v1"),
        ("https://host/v1", "https://host/x/v1"),
        ("https://host/v1", "http://host/v1"),
        ("https://host/v1", "https://host"),
        ("https://host/v1", "https://host:8443/v1"),
        ("https://host/v1", "https://other/v1"),
        ("http://host/a", "https://host/a"),
        ("https://host/A", "https://host/a"),
    ],
)
def test_two_deployments_share_no_cached_reply(one: str, another: str) -> None:
    signatures = {OpenAILLM("m", Endpoint(url, KEY)).signature for url in (one, another)}
    assert len(signatures) == 2


def test_replies_cached_before_stay_usable_at_the_usual_root() -> None:
    # Keys held the host alone; a change of them would pay for every stored reply again.
    assert OpenAILLM("m", Endpoint(None, KEY)).signature == "api.openai.com m None"
    for url in ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/"):
        assert OpenAILLM("m", Endpoint(url)).signature == "127.0.0.1:11434 m None"
    slashed = OpenAILLM("m", Endpoint("https://host/x/v1/", KEY)).signature
    assert slashed == OpenAILLM("m", Endpoint("https://HOST/x/v1", KEY)).signature
