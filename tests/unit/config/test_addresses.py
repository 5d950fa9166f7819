"""What an address says, also when it is written to deceive."""

from __future__ import annotations

import pytest

from pgs_neo4j.config.addresses import host_in, is_loopback, is_openai, is_plain, is_same_server


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:11434/v1", "http://LOCALHOST/v1", "bolt://127.0.0.1:7687",
        "bolt://127.9.9.9", "http://[::1]:8000/v1",
    ],
)  # fmt: skip
def test_this_machine(address):
    assert is_loopback(address)
    assert not is_plain(address)


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost.evil.org/v1", "http://127.0.0.1.evil.org/v1", "http://evil.org/localhost",
        "http://evil.org#localhost", "http://evil.org?localhost", "http://0.0.0.0/v1", "http://",
        "http://localhost\\.evil.org/v1", "http://127.1/v1", "http://2130706433/v1", "localhost",
        "http://local\thost.evil.org/", "http://[::1", "http://localhost:port/v1", "",
    ],
)  # fmt: skip
def test_no_other_address_passes_for_this_machine(address):
    assert not is_loopback(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://api.openai.com.evil.org/v1", "https://evil.org\\.api.openai.com/v1",
        "https://evil.org/.api.openai.com", "https://evil.org?.api.openai.com",
        "https://xapi.openai.com/v1", "https://api.openai.com:444/v1", "http://api.openai.com/v1",
        "https://evil.org%2f.api.openai.com/v1", "https://ap\u0131.openai.com/v1", "", "https://[",
    ],
)  # fmt: skip
def test_no_other_address_passes_for_openai(address):
    assert not is_openai(address)
    assert not is_same_server(address, "https://api.openai.com/v1")


def test_one_server_has_one_scheme_host_and_port():
    assert is_same_server("https://a.org/x", "https://A.org:443/y")
    assert is_same_server("http://a.org", "http://a.org:80/")
    assert not is_same_server("https://a.org", "http://a.org")
    assert not is_same_server("https://a.org:8443", "https://a.org")
    assert not is_same_server("https://", "https://")


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://user:hidden@a.org/v1?hidden", "a.org"),
        ("bolt://a.org:7687", "a.org"),
        ("http://[fe80::1%eth0]/", "fe80::1%eth0"),
        ("http://a\x1b[31m.org", "an address that cannot be read"),
        ("hidden", "an address that cannot be read"),
    ],
)
def test_an_address_is_named_by_its_host(address, host):
    assert host_in(address) == host
