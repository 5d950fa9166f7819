"""What a server says of an error: shown where it helps, never what it was sent."""

from __future__ import annotations

import json

import pytest

from pgs_neo4j.llm.openai.refusals import MOST_SAID, said_line

KEY = "key-of-a-server-9876"
TEXT = "Marta Kowalska owes the harbor office four hundred crowns since the spring."
SENT = json.dumps(
    {"model": "llama9", "messages": [{"role": "user", "content": f"Question\n{TEXT} Is it so?"}]}
).encode()


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"message": "CUDA out of memory"}, "CUDA out of memory"),
        (
            {"error": "model 'llama9' not found, try pulling it first"},
            "model 'llama9' not found, try pulling it first",
        ),
        (
            {"error": {"message": "no such route.\nTraceback (most recent call last)"}},
            "no such route",
        ),
        ({"detail": [{"msg": "Field required"}]}, "Field required"),
        ('{"error": {"message": "overloaded"}}', "overloaded"),
        ("upstream died", "upstream died"),
        ({"message": "\x1b[31mred\x1b[0m \x07bell\u202e"}, "red bell"),
        ("<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", ""),
        (
            "<html><head>\n<title>502 Bad&nbsp;Gateway</title></head><h1>nginx</h1>",
            "502 Bad Gateway",
        ),
        ("<html><title>\n  524: A timeout\noccurred</title>", "524: A timeout"),
        ("<html><title>&#8238;red &lt;b&gt;</title>", "red <b>"),
        ("<html><title></title><title", ""),
        ({"message": ""}, ""),
        ({"message": "{" * 90_000}, ""),
        ({"code": 7}, ""),
        (None, ""),
    ],
)
def test_the_first_line_of_a_server_is_shown(body: object, line: str) -> None:
    assert said_line(body, SENT) == line


def test_a_long_line_is_cut() -> None:
    line = said_line({"message": "word " * 5_000}, SENT)
    assert len(line) <= MOST_SAID
    assert line.endswith("…")


@pytest.mark.parametrize(
    "said",
    [
        f"invalid prompt: {TEXT}",
        "cannot parse: owes the HARBOR\toffice four, crowns",
        f"bad input {json.dumps(TEXT)}",
        "unknown name 'Kowalska' in the input",
        'unknown name "Marta Kowalska"',
    ],
)
def test_nothing_is_repeated_of_what_was_sent(said: str) -> None:
    line = said_line({"message": said}, SENT).casefold()
    for word in ("kowalska", "harbor", "crowns"):
        assert word not in line


@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {KEY}",
        "invalid Authorization: Bearer abc.def-ghi",
        "no access with sk-abcdefghijklmnopqrstuv",
        "see http://me:hidden@host/path",
        "api_key=topsecretvalue is wrong",
    ],
)
def test_secrets_are_masked(said: str) -> None:
    line = said_line({"message": said}, SENT, (KEY,))
    for secret in (KEY, "abc.def-ghi", "sk-abc", "hidden", "topsecretvalue"):
        assert secret not in line
    assert line
