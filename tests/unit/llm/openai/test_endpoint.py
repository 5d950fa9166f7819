"""Which endpoints are accepted, and what is said about the others."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from pgs_neo4j.errors import ConfigError, ModelAuthError
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


@pytest.mark.parametrize("url", ["host/v1", "ftp://host", "https://host:0/v1", "https://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        Endpoint(url, KEY)


def test_an_address_is_named_by_host_and_port() -> None:
    assert Endpoint("http://127.0.0.1:11434/v1").host == "127.0.0.1:11434"
    with pytest.raises(ModelAuthError, match="no API key"):
        Endpoint()
