"""Each vendor's words for a prompt that is too long, with the numbers that they name."""

from __future__ import annotations

import pytest

from pgs_neo4j.llm.lengths import LengthRefusal, parse_length_refusal

SENT = 9_321
# Status, code, words, and the limit and length that they name.
REFUSALS = [
    (400, "exceed_context_size_error", "the request exceeds the available context size", 0, 0),
    (400, None, f"request ({SENT} tokens) exceeds the available context size (4096 tokens)", 1, 1),
    (400, "400", f'"n_prompt_tokens": {SENT}, "n_ctx": 4096, exceeds the context size', 1, 1),
    (500, None, f"input ({SENT} tokens) is too large to process. increase the batch size", 0, 1),
    (400, None, f"The decoder prompt (length {SENT}) is longer than the maximum model length of "
     "4096. Make sure that `max_model_len` is no smaller than the number of tokens.", 1, 1),
    (400, None, f"This model's maximum context length is 4096 tokens. However, your request has "
     f"{SENT} input tokens.", 1, 1),
    (400, None, "'max_tokens' or 'max_completion_tokens' is too large: 6000. This model's maximum "
     f"context length is 4096 tokens and your request has {SENT} input tokens", 1, 1),
    (400, None, "max_tokens=16000 cannot be greater than max_model_len=max_total_tokens=4096.",
     1, 0),
    (400, "invalid_request_error", f"input length and `max_tokens` exceed context limit: {SENT} + "
     "2000 > 4096, decrease input length or `max_tokens` and try again", 1, 1),
    (400, "invalid_request_error", f"prompt is too long: {SENT} tokens > 4096 maximum", 1, 1),
    (400, None, f"The input token count ({SENT}) exceeds the maximum number of tokens allowed "
     "(4096).", 1, 1),
    (400, None, "This model's maximum prompt length is 4096 but the request contains "
     f"{SENT} tokens.", 1, 1),
    (422, "validation", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
     f"4096. Given: {SENT} `inputs` tokens and 512 `max_new_tokens`", 1, 1),
    (400, None, "Input is too long for requested model.", 0, 0),
    (413, None, "Payload Too Large", 0, 0),
    (413, "rate_limit_exceeded", "Request too large for model `x` on tokens per minute (TPM): "
     f"Limit 4096, Requested {SENT}", 1, 1),
    (400, None, f"Requested input length {SENT} exceeds maximum input length 4096", 1, 1),
    (400, None, "too many tokens: total number of tokens in the prompt cannot exceed 4096 - "
     f"received {SENT}.", 1, 1),
    (400, "1261", "Request Entity Too Large: prompt exceeds max length", 0, 0),
    (400, None, "Trying to keep the first 5065 tokens when context the overflows. However, the "
     "model is loaded with context length of only 4096 tokens", 1, 0),
    (400, None, "The number of tokens to keep from the initial prompt is greater than the context "
     "length.", 0, 0),
    (400, "3051", f"Prompt contains {SENT} tokens and 0 draft tokens, " "too large for model with "
     "4096 maximum context length", 1, 1),
    (400, None, f"The input ({SENT} tokens) is longer than the model's context length (4096 "
     "tokens).", 1, 1),
    (400, None, "input length exceeds the context length", 0, 0),
    (400, "context_length_exceeded", "Input tokens exceed the configured limit of 4,096 tokens. "
     f"Your messages resulted in {SENT} tokens.", 1, 1),
    (400, None, "Range of input length should be [1, 4096]", 1, 0),
    (400, "INVALID_ARGUMENT", "Unable to submit request because the input token count is "
     f"{SENT} but model only supports up to 4096. Reduce the input token count.", 1, 1),
    (400, None, "The input token count exceeds the maximum number of tokens allowed 4096.", 1, 0),
    (400, None, f"Your request exceeded model token limit: 4096 (requested: {SENT})", 1, 1),
    (400, None, f"Input prompt ({SENT} tokens) is too long and exceeds limit of 4096", 1, 1),
    (400, None, f"Input length ({SENT} tokens) exceeds the maximum allowed length (4096 tokens).",
     1, 1),
    (400, None, f"This model supports at most 4096 tokens, but {SENT} were given", 1, 1),
    (400, None, "Total message token length exceed model limit", 0, 0),
    (400, None, "total tokens in conversation history exceed maximum of 4096", 1, 0),
    (400, None, "litellm.ContextWindowExceededError: the model cannot take this", 0, 0),
    (400, "prompt_too_long", "too much", 0, 0),
    (400, "model_max_prompt_tokens_exceeded", f"prompt token count of {SENT} exceeds the limit of "
     "4096", 1, 1),
    (400, None, "max_tokens must be at least 1, got -500.", 0, 0),
    (400, None, "prompt is too long: 9_321 tokens > 4_096 maximum", 1, 1),
    (400, None, f"The prompt is too long: {SENT}, model maximum context length: 4096", 1, 1),
    (400, None, "invalid params, context window exceeds limit (2013)", 0, 0),  # a code, no limit
    (400, None, "string_above_max_length: Expected a string with maximum length 1048576, but got a "
     "string with length 1200000 instead.", 0, 0),  # in characters
    (400, None, f"The prompt (length {SENT}) exceeds the maximum length of 4096", 1, 1),
    (400, None, "Please reduce the length of the messages or completion. Current length is "
     f"{SENT} while limit is 4096", 1, 1),
    (400, None, "too many tokens: size limit exceeded by 1234 tokens. The limit for this model is "
     "4096 tokens.", 1, 0),
    (400, None, "This endpoint's maximum context length is 4096 tokens. However, you requested "
     f"about {SENT} tokens (5225 of text input, 4096 in the output).", 1, 1),
    (400, None, "This model's maximum context length is 4096 tokens. However, you requested 0 "
     f"output tokens and your prompt contains at least {SENT} input tokens.", 1, 1),
    (400, None, f"You passed {SENT} input tokens and requested 0 output tokens. However, the "
     "model's context length is only 4096 tokens.", 1, 1),
    (502, None, "upstream said: This model's maximum context length is 4096 tokens", 1, 0),
    (424, None, "Input is too long for requested model.", 0, 0),
    (429, None, "Request too large for gpt-4o on tokens per min (TPM): Limit 4096, Requested "
     f"{SENT}.", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("status", "code", "words", "limit", "length"), REFUSALS)
def test_a_refusal_because_of_length_is_recognized(status, code, words, limit, length):
    found = LengthRefusal(4096 if limit else None, SENT if length else None)
    assert parse_length_refusal(status, code, words) == found
    assert parse_length_refusal(status, code, words.upper()) is not None


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (400, None, "max_tokens is not supported with this model, use max_completion_tokens"),
        (400, None, "think value high is not supported for this model"),
        (400, None, "temperature: 3 is too large; it must be at most 2"),
        (
            400,
            None,
            "`max_tokens` must be less than or equal to `50`, the maximum value for "
            "`max_tokens` is less than the `context_window` for this model",
        ),
        (401, None, "prompt is too long"),
        (429, None, "Request too large"),
        (500, None, "internal error"),
        (503, None, "context length"),
        (502, None, "bad gateway"),
        (429, None, "Request too large on tokens per min: Limit 9000, Requested 800."),
        (429, None, "Rate limit reached: Limit 30000, Used 29000, Requested 2000."),
        (400, None, "x" * 5_000 + "context length"),
    ],
)
def test_other_errors_are_no_matter_of_length(status, code, words):
    assert parse_length_refusal(status, code, words) is None


def test_a_number_that_no_context_has_is_not_believed():
    words = "maximum context length is 999999999 tokens"
    assert parse_length_refusal(400, None, words) == LengthRefusal()
