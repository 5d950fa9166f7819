"""How vendors refuse a prompt that is too long, by the tokens of prompt and context."""

from __future__ import annotations

from collections.abc import Callable

from tests.fakes.openai_server import Status


def _refusal(
    message: str, status: int = 400, code: str | None = None
) -> Callable[[int, int], Status]:
    def refuse(prompt: int, context: int) -> Status:
        said = message.format(prompt=prompt, context=context)
        return Status(status, message=said, error_code=code)

    return refuse


LENGTH_REFUSALS: dict[str, Callable[[int, int], Status]] = {
    "OpenAI": _refusal(
        "Input tokens exceed the configured limit of {context} tokens. Your messages resulted in "
        "{prompt} tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
    ),
    "Azure": _refusal(
        "This model's maximum context length is {context} tokens. However, your messages resulted "
        "in {prompt} tokens."
    ),
    "Anthropic": _refusal("prompt is too long: {prompt} tokens > {context} maximum"),
    "Gemini": _refusal(
        "The input token count ({prompt}) exceeds the maximum number of tokens allowed ({context})."
    ),
    "xAI": _refusal(
        "This model's maximum prompt length is {context} but the request contains {prompt} tokens."
    ),
    "Mistral": _refusal(
        "Prompt contains {prompt} tokens and 0 draft tokens,"
        " too large for model with {context} maximum context length",
        code="3051",
    ),
    "Groq": _refusal(
        "Request too large for model `x` on tokens per minute (TPM): Limit {context}, Requested "
        "{prompt}",
        413,
        "rate_limit_exceeded",
    ),
    "Cohere": _refusal(
        "too many tokens: total number of tokens in the prompt cannot exceed {context} - received "
        "{prompt}. Try using a shorter prompt"
    ),
    "DeepInfra": _refusal("Requested input length {prompt} exceeds maximum input length {context}"),
    "Bedrock": _refusal("Input is too long for requested model."),
    "Zhipu": _refusal("Request Entity Too Large: prompt exceeds max length", code="1261"),
    "DashScope": _refusal("Range of input length should be [1, {context}]"),
    "a gateway": _refusal("Payload Too Large", 413),
    "llama.cpp": _refusal(
        "request ({prompt} tokens) exceeds the available context size ({context} tokens), try "
        "increasing it"
    ),
    "llama.cpp before": _refusal(
        "the request exceeds the available context size, try increasing it"
    ),
    "vLLM": _refusal(
        "The decoder prompt (length {prompt}) is longer than the maximum model length of {context}."
        " Make sure that `max_model_len` is no smaller than the number of text tokens."
    ),
    "SGLang": _refusal(
        "The input ({prompt} tokens) is longer than the model's context length ({context} tokens)."
    ),
    "TGI": _refusal(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {context}. Given: "
        "{prompt} `inputs` tokens and 512 `max_new_tokens`",
        422,
        "validation",
    ),
    "LM Studio": _refusal(
        "Trying to keep the first {prompt} tokens when context the overflows. However, the model "
        "is loaded with context length of only {context} tokens"
    ),
    "LM Studio before": _refusal(
        "The number of tokens to keep from the initial prompt is greater than the context length."
    ),
    "Ollama": _refusal("input length exceeds the context length"),
}
