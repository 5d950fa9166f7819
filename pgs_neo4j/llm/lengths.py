"""Recognizes the errors by which servers refuse a prompt that is too long.

Each vendor uses its own words, and few send a code. The words around the limit decide, because the
numbers may be missing. A refusal often names the limit, and sometimes the length of the prompt,
both in the server's own tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CODES = frozenset(
    (
        "context_length_exceeded",
        "exceed_context_size_error",
        "string_above_max_length",
        "array_above_max_length",
        "prompt_too_long",
        "model_max_prompt_tokens_exceeded",
        "1261",
    )
)
STATUSES = frozenset((400, 413, 422, 424, 500, 502))
# OpenAI limits the tokens per minute. It refuses a single request above that limit with this
# status, and no wait helps.
LIMITED_STATUS = 429
LOOKED_AT = 4_000  # characters of an error that are searched; its beginning names the reason
LONGEST_CONTEXT = 100_000_000  # tokens; a larger number is no context

# llama.cpp, LM Studio, Ollama, OpenAI, SGLang, Mistral: "context length", "context size".
# vLLM: "maximum model length", "max_model_len". Anthropic and DashScope: "prompt is too long".
# Anthropic, of prompt and reply together: "exceed context limit: N + N > N".
# Gemini: "input token count exceeds". xAI: "maximum prompt length". TGI: "`inputs` tokens +
# `max_new_tokens` must be <= N". Bedrock: "Input is too long". Gateways: "Payload Too Large".
# Groq: "Request too large". DeepInfra: "exceeds maximum input length". Cohere: "too many tokens".
# TEI, of embeddings: "`inputs` must have less than N tokens".
# Google Cloud: "token count is N but model only supports up to N". Kimi: "exceeded model token
# limit".
# LiteLLM, of all vendors: "ContextWindowExceededError". vLLM, where nothing is left for a reply:
# "max_tokens must be at least 1, got -500".
# Zhipu: "prompt exceeds max length". llama.cpp for embeddings: "too large to process".
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|limit|size|window|overflow)|number of tokens to keep|"
    r"max(?:imum)?[ _]model[ _]len|max_total_tokens|max_new_tokens`? must be|"
    r"(?:prompt|input|inputs|text|message|request|payload|entity|content)s?(?: \([^)]{0,40}\))?"
    r"(?: is| are)? too (?:long|large)|too many (?:input )?tokens|too large to process|"
    r"maximum (?:prompt|input|sequence) length|"
    r"exceeds? (?:the )?max(?:imum)?(?: allowed)? length|string_above_max_length|"
    r"token count .{0,40}(?:exceeds|supports up to)|(?:input|prompt) tokens? exceeds?|"
    r"exceed(?:s|ed)? (?:the )?model(?:'s)? (?:token )?limit|range of input length|"
    r"total tokens .{0,40}exceeds? (?:the )?max(?:imum)?|supports at most \d+ tokens|"
    r"max_tokens must be at least 1, got -|"
    r"must have (?:less|fewer) than \d+ tokens|"
    # DashScope, TEI, Cohere, OpenAI, and Gemini say this about too many texts in an embedding call.
    r"batch size|too many inputs|at most \d+ (?:inputs|texts|requests)|number of (?:inputs|texts)|"
    r"reduce the length of (?:the|your)|larger than the model's (?:context|maximum)",
    re.IGNORECASE | re.DOTALL,
)
# Groq says this about a limit on the reply, in a sentence that ends in "context_window".
_OF_REPLY = re.compile(
    r"max_(?:completion_)?tokens\W{0,3}must be less than or equal", re.IGNORECASE
)
# OpenAI says this about a message with too many characters, so its numbers are not tokens.
_IN_CHARACTERS = re.compile(r"string too long|string_above_max_length", re.IGNORECASE)
# This matches the refusal of a single request that exceeds the quota of a minute.
_OF_ONE_REQUEST = re.compile(
    r"request too large.{0,300}limit:? (\d+), requested:? (\d+)", re.IGNORECASE | re.DOTALL
)
_NUMBER = r"(?P<n>\d{1,3}(?:[,_]\d{3})+|\d{3,9})(?!\d|[.,_]\d)"
_LIMITS = tuple(
    re.compile(pattern + _NUMBER, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r'"?n_ctx"?\W{1,4}',
        r"context (?:length|size|window)(?: is| of)?(?: only)?\W{1,3}",
        r"max_model_len=max_total_tokens=",
        r"maximum (?:(?:model|prompt|input|sequence|allowed) )?length(?: is| of)?\W{1,3}",
        r"(?:number of )?tokens allowed \(?",
        r"supports (?:up to|at most) ",
        r"exceeds? (?:the )?maximum of ",
        r"limit for (?:this|the) model is ",
        r"context limit: \d+ \+ \d+ > ",
        r"must be <=\s*",
        r"cannot exceed\s*",
        r"must have (?:less|fewer) than\s+",
        r"tokens > ",
        r"(?:configured )?limit(?: of| is)?(?:\W? |\W(?=\d))(?=\d)",
        r"limit \((?=[\d,_]+ tokens)",
        r"model with\s+",
        r"range of input length should be \[\d+, ?",
    )
)
_PROMPTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf'"?n_prompt_tokens"?\W{{1,4}}{_NUMBER}',
        rf"(?:\(length|token count(?: of| is)?|input length) \(?{_NUMBER}",
        rf"(?:prompt|request|messages?) (?:contains?|resulted in|has|have) {_NUMBER}",
        rf"(?:prompt is too long:|(?:prompt|input|request)) \(?{_NUMBER}(?: input)? tokens",
        rf"context limit: {_NUMBER} \+",
        rf"(?:given|received|requested):? (?:about )?{_NUMBER}",
        rf"(?:contains at least|passed) {_NUMBER} input tokens",
        rf"too long: {_NUMBER}",
        rf"but {_NUMBER} (?:tokens )?(?:were|was) (?:given|passed|sent)",
        rf"current length is {_NUMBER}",
    )
)


@dataclass(frozen=True, slots=True)
class LengthRefusal:
    """A refusal because of length.

    ``context`` is the limit and ``prompt`` the length of the prompt, both in tokens; None if the
    refusal does not name them.
    """

    context: int | None = None
    prompt: int | None = None


def parse_length_refusal(status: int, code: str | None, text: str) -> LengthRefusal | None:
    """Return the limit and length that an error names; None if the length is not its reason.

    ``text`` is the error's message or its whole body.
    """
    said = text[:LOOKED_AT]
    if status == LIMITED_STATUS and (large := _OF_ONE_REQUEST.search(said)):
        limit, prompt = map(int, large.groups())
        return LengthRefusal(limit, prompt) if prompt > limit else None
    if status not in STATUSES:
        return None
    known = str(code) in CODES or any(f'"{word}"' in said for word in CODES)
    if not known and status != 413 and not _TOO_LONG.search(said):
        return None
    if _OF_REPLY.search(said):
        return None
    if _IN_CHARACTERS.search(said):
        return LengthRefusal()
    return LengthRefusal(_find_number(_LIMITS, said), _find_number(_PROMPTS, said))


def _find_number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        if found := pattern.search(text):
            number = int(re.sub(r"\D", "", found["n"]))
            if 0 < number <= LONGEST_CONTEXT:
                return number
    return None
