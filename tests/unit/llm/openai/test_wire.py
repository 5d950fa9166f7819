"""What endpoints send is read tolerantly, and their dialect is learned from refusals."""

import httpx2 as httpx
import openai
import pytest

from pgs_neo4j.llm.openai.wire import Dialect, StreamedPiece
from pgs_neo4j.model import Prompt

PROMPT = Prompt(task="sweep", system="s", user="u", question="q")


def body_of(dialect: Dialect, *, stream: bool = False) -> dict[str, object]:
    return dialect.body("m", PROMPT, max_tokens=9, effort="low", temperature=0.5, stream=stream)


def refusal(message: str, status: int = 400, param: str | None = None) -> openai.APIStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(status, request=request)
    return openai.APIStatusError(
        message, response=response, body={"message": message, "param": param}
    )


def test_the_event_with_the_usage_has_no_choices() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    chunk = StreamedPiece.model_validate({"choices": None, "usage": usage})
    assert chunk.choices is None
    assert chunk.usage is not None
    assert chunk.usage.completion_tokens == 2


def test_a_request_has_all_parameters_until_some_are_refused() -> None:
    dialect = Dialect("max_tokens")
    assert body_of(dialect) == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "max_tokens": 9,
        "reasoning_effort": "low",
        "temperature": 0.5,
    }
    assert body_of(dialect, stream=True)["stream_options"] == {"include_usage": True}
    assert dialect.learn(body_of(dialect), refusal("temperature is not supported"))
    assert "temperature" not in body_of(dialect)


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_other_errors_teach_nothing(status: int) -> None:
    dialect = Dialect("max_tokens")
    assert not dialect.learn(body_of(dialect), refusal("temperature", status))
    assert not dialect.dropped
