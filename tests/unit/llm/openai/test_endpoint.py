"""Which endpoints are accepted, what is said about the others, and what refusals teach."""

from __future__ import annotations

import httpx2 as httpx
import openai
import pytest
from pydantic import SecretStr

from pgs_neo4j.errors import ConfigError, ModelAuthError
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.wire import Dialect
from pgs_neo4j.model import Prompt

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


def test_the_public_endpoint_needs_a_key_that_can_be_one_and_is_not_shown() -> None:
    for missing in (None, SecretStr("  ")):
        with pytest.raises(ModelAuthError, match=r"PGS_LLM_API_KEY \(or OPENAI_API_KEY\)"):
            Endpoint(api_key=missing)
    for key in ("line\nbreak", "schlüssel"):
        with pytest.raises(ModelAuthError) as caught:
            Endpoint(api_key=SecretStr(key))
        assert key not in str(caught.value)
    assert Endpoint(api_key=KEY).refuses
    llm = OpenAILLM("m", Endpoint("http://127.0.0.1:1/v1", KEY))
    assert repr(llm) == "OpenAILLM('m' at '127.0.0.1:1')"
    assert KEY.get_secret_value() not in repr(llm._endpoint)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("https://host/ok/v1", "https://host/x/v1"),
        ("https://host/v1", "http://host/v1"),
        ("https://host/v1", "https://host"),
        ("https://host/v1", "https://host:8443/v1"),
        ("https://host/v1", "https://other/v1"),
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


PROMPT = Prompt(task="sweep", system="s", user="u", question="q")


def body_of(dialect: Dialect, *, stream: bool = False) -> dict[str, object]:
    return dialect.body("m", PROMPT, max_tokens=9, effort="low", temperature=0.5, stream=stream)


def refusal(message: str, status: int = 400, param: str | None = None) -> openai.APIStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(status, request=request)
    return openai.APIStatusError(
        message, response=response, body={"message": message, "param": param}
    )


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_other_errors_teach_nothing(status: int) -> None:
    dialect = Dialect("max_tokens")
    assert not dialect.learn(body_of(dialect), refusal("temperature", status))
    assert not dialect.dropped
