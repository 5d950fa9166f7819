"""A fake of Ollama's native interface, to put in front of the endpoint of ``openai_server``.

Its model reads no more of a prompt than the context that a call asks for, in tokens of 4 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

from tests.fakes.billing import Billed
from tests.fakes.openai_server import Body, FakeOpenAI, Raw, Recorded, Scripted, contract_answer
from tests.fakes.windows import BYTES_PER_TOKEN, was_given


@dataclass(slots=True)
class FakeOllama:
    """Ollama with one model.

    ``limit`` is the context that the model was trained for, ``memory`` the largest one that can be
    loaded, and ``loaded`` the one that is loaded. An ``old`` release cuts a long prompt even if it
    must not. ``answer`` writes a reply to what the model was given, in the form of a request for
    chat completions. ``given`` are the lines of text that the model has read, and ``pages`` the
    answers to GET requests. ``paid`` counts the replies.
    """

    model: str = "llama3.1:8b"
    limit: int = 131_072
    memory: int = 131_072
    loaded: int | None = None
    modelfile: str = ""
    old: bool = False
    thinks: bool = False
    named_efforts: bool = False
    counts: bool = True
    done_reason: str = "stop"
    answer: Callable[[Body], str] = contract_answer
    given: set[str] = field(default_factory=set)
    contexts: list[int] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    cuts: int = 0
    billed: Billed = field(default_factory=Billed)
    bytes_per_token: float = BYTES_PER_TOKEN
    pages: dict[str, object] = field(default_factory=dict)

    def put_before(self, fake: FakeOpenAI) -> FakeOllama:
        """Answer all requests of a fake endpoint."""
        fake.refuse, fake.pages, fake.models = self, self.pages, None
        self.pages |= {
            "/api/version": {"version": "0.20.1"},
            "/api/tags": {"models": [{"name": self.model}]},
        }
        self._load(self.loaded)
        return self

    def __call__(self, request: Recorded) -> Scripted | None:
        match request.path.removeprefix("/v1"):
            case "/api/show":
                return self._show(request.body)
            case "/api/chat":
                return self._chat(request.body)
            case "/api/embed":
                return self._embed(request.body)
        return Raw(b'{"error": "not found"}', code=404)

    def gave(self, text: str) -> bool:
        """Whether the model has read all of a text."""
        return was_given(self.given, text)

    def _load(self, context: int | None) -> None:
        entry = {"name": self.model, "context_length": context}
        self.pages["/api/ps"] = {"models": [entry] if context else []}

    def _show(self, body: Body) -> Raw:
        if body["model"] != self.model:
            return _json({"error": f"model '{body['model']}' not found"}, 404)
        info = {"general.architecture": "llama", "llama.context_length": self.limit}
        capabilities = ["completion", *(["thinking"] if self.thinks else [])]
        told = {"model_info": info, "parameters": self.modelfile, "capabilities": capabilities}
        return _json(told)

    def _chat(self, body: Body) -> Raw:
        self.bodies.append(body)
        if body["model"] != self.model:
            return _json({"error": f"model '{body['model']}' not found"}, 404)
        think, context = body.get("think"), min(body["options"]["num_ctx"], self.limit)
        if think and not self.thinks:
            return _json({"error": f'"{self.model}" does not support thinking'}, 400)
        if isinstance(think, str) and not self.named_efforts:
            said = f'think value "{think}" is not supported for this model'
            return _json({"error": said}, 400)
        if context > self.memory:
            said = "model requires more system memory (19.1 GiB) than is available (7.6 GiB)"
            return _json({"error": said}, 500)
        self._load(context)
        self.contexts.append(context)
        prompt = "\n".join(message["content"] for message in body["messages"])
        tokens = self._tokens(prompt)
        if tokens > context:
            if not self.old and body.get("truncate") is False:
                return _json({"error": "the input length exceeds the context length"}, 400)
            self.cuts += 1
            prompt, tokens = prompt[-int(context * self.bytes_per_token) // 2 :], context // 2
        self.given.update(line for line in prompt.split("\n") if line.startswith("| "))
        return self._reply(body, prompt, tokens)

    def _reply(self, body: Body, prompt: str, tokens: int) -> Raw:
        text = self.answer({"messages": [{"content": prompt}]})
        self.billed.calls += 1
        self.billed.uncached += tokens
        self.billed.output += self._tokens(text)
        counts = {"prompt_eval_count": tokens, "eval_count": self._tokens(text)}
        end = {"model": self.model, "done": True, "done_reason": self.done_reason}
        end |= counts if self.counts else {}
        if not body["stream"]:
            return _json({**end, "message": {"role": "assistant", "content": text}})
        thought = [{"message": {"role": "assistant", "content": "", "thinking": "Hm."}}]
        pieces = [text[at : at + 30] for at in range(0, len(text), 30)]
        lines: list[Body] = [*thought, *({"message": {"content": piece}} for piece in pieces), end]
        content = "".join(f"{json.dumps({'done': False} | line)}\n" for line in lines)
        return Raw(content.encode(), "application/x-ndjson")

    def _tokens(self, text: str) -> int:
        return ceil(len(text.encode()) / self.bytes_per_token)

    def _embed(self, body: Body) -> Raw:
        tokens = [self._tokens(text) for text in body["input"]]
        if max(tokens) > self.limit:
            if body.get("truncate") is False:
                return _json({"error": "the input length exceeds the context length"}, 400)
            self.cuts += 1
        vectors = [[float(len(text)), 1.0, 2.0] for text in body["input"]]
        return _json({"embeddings": vectors, "prompt_eval_count": sum(tokens)})


def _json(value: object, code: int = 200) -> Raw:
    return Raw(json.dumps(value).encode(), code=code)
