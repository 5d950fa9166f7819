"""What an endpoint says of its prompt cache, in each form, and where that cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from pgs_neo4j.llm.openai.usage import count_usage
from pgs_neo4j.llm.openai.wire import Reply, StreamedPiece
from pgs_neo4j.model import Prompt, Usage

PROMPT = Prompt(task="sweep", system="Read.", user="word " * 100, question="Why?")
COUNTS = {"prompt_tokens": 120, "completion_tokens": 7}


def details(**counts: object) -> dict[str, Any]:
    return {"prompt_tokens_details": counts}


def reported(told: dict[str, Any]) -> list[Usage]:
    """The usage of a whole reply and of a streamed one with the same words."""
    usage = COUNTS | told
    whole = Reply.model_validate({"choices": [{"message": {"content": "a"}}], "usage": usage})
    chunk = ChatCompletionChunk.construct(choices=[], usage=usage)
    streamed = StreamedPiece.model_validate(chunk)
    return [count_usage(PROMPT, "a reply", one.usage).usage for one in (whole, streamed)]


@pytest.mark.parametrize(
    ("told", "cached", "stored"),
    [
        ({}, 0, 0),
        (details(cached_tokens=100), 100, 0),
        (details(cached_tokens=120, audio_tokens=0), 120, 0),
        (details(cached_tokens=64, cache_write_tokens=40), 64, 40),
        (details(cache_write_tokens=120), 0, 120),
        ({"prompt_cache_hit_tokens": 100, "prompt_cache_miss_tokens": 20}, 100, 0),
        ({"cached_tokens": 90}, 90, 0),
        ({"prompt_cache_hit_tokens": 100, **details(cached_tokens=0)}, 100, 0),
        ({"prompt_tokens_details": None, "cached_tokens": None}, 0, 0),
        (details(cached_tokens=None, cache_write_tokens=None), 0, 0),
        (details(cached_tokens=121), 0, 0),
        (details(cached_tokens=-1, cache_write_tokens=-3), 0, 0),
        (details(cached_tokens=10**18, cache_write_tokens=10**30), 0, 0),
        (details(cached_tokens=100, cache_write_tokens=21), 100, 0),
        (details(cached_tokens="many", cache_write_tokens=[5]), 0, 0),
        (details(cached_tokens=2.5), 0, 0),
        ({"prompt_tokens_details": "none"}, 0, 0),
        ({"prompt_tokens_details": [100], "prompt_cache_hit_tokens": 60}, 60, 0),
        ({"cost": 0.25, "cost_details": {"upstream_inference_cost": None}}, 0, 0),
    ],
)
def test_the_share_of_the_providers_cache_is_read_in_each_form(
    told: dict[str, Any], cached: int, stored: int
) -> None:
    for usage in reported(told):
        assert usage == Usage(
            calls=1,
            input_tokens=120,
            output_tokens=7,
            cache_read_tokens=cached,
            cache_write_tokens=stored,
        )


def thinking(count: object) -> dict[str, Any]:
    return {"completion_tokens_details": {"reasoning_tokens": count}}


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ({"total_tokens": 127}, 7),
        ({"total_tokens": 127, **thinking(5)}, 7),  # OpenAI counts them among those of the reply
        ({"total_tokens": 160}, 40),  # Gemini counts them in the total alone
        ({"total_tokens": 160, **thinking(33)}, 40),  # xAI says how many they are
        ({"total_tokens": 160, **thinking(0)}, 7),
        ({"total_tokens": 160, **thinking(900)}, 40),
        (thinking(33), 7),
        ({"total_tokens": 160, **thinking(-1)}, 40),
        ({"total_tokens": 160, "completion_tokens_details": None}, 40),
        ({"total_tokens": 0}, 7),
        ({"total_tokens": -1}, 7),
        ({"total_tokens": 10**18}, 7),
        ({"total_tokens": "many"}, 7),
        ({"total_tokens": None}, 7),
    ],
)
def test_thinking_that_is_billed_beside_the_reply_counts(
    told: dict[str, Any], written: int
) -> None:
    for usage in reported(told):
        assert usage == Usage(calls=1, input_tokens=120, output_tokens=written)


@pytest.mark.parametrize("value", [True, "100"])
def test_no_other_type_is_a_count(value: object) -> None:
    assert reported(details(cached_tokens=value))[0].cache_read_tokens == 0


def test_a_prompt_that_was_not_counted_has_no_cached_share() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 7, **details(cached_tokens=1)}
    for found in reported(usage):
        assert found.estimated
        assert found.cache_read_tokens == 0
