"""``/v1/models`` and ``/v1/chat/completions``: answers in the format of OpenAI's API.

An answer is sent whole or as a stream. Chat programs render a message as Markdown. So markup,
links, and pictures that do not come from pgs are disarmed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import time
from typing import cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from pgs_neo4j.errors import PGSError
from pgs_neo4j.export import Document, figures, wording
from pgs_neo4j.export.markdown import source_lines
from pgs_neo4j.export.written import inert_blocks
from pgs_neo4j.model import Answer
from pgs_neo4j.text.citations import Cited, name_of
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, unproven_note
from pgs_neo4j.web.chat.asking import ChatRun, Chats, find_model, list_chat_models, make_model_entry
from pgs_neo4j.web.chat.bodies import ChatRequest
from pgs_neo4j.web.failures import Failure, chat_failure, failure_of, status_of
from pgs_neo4j.web.runs.events import LoggedEvent
from pgs_neo4j.web.runs.served_data import coverage_counts
from pgs_neo4j.web.shared import CallerNow, Serving, ServingNow

# These routes are not in the OpenAPI description, because OpenAI documents this format.
router = APIRouter(prefix="/v1", include_in_schema=False)

EXTRACTIVE = "extractive"


class StreamedChat(StreamingResponse):
    """A reply that is streamed while it is written. It counts as a stream while it is open."""

    def __init__(self, serving: Serving, graph: str, pieces: AsyncIterator[str]) -> None:
        super().__init__(
            pieces, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )
        self.serving, self.graph = serving, graph

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply."""
        # Count the stream here, since the generator of an aborted stream may be closed much later.
        with self.serving.streaming(self.graph):
            await super().__call__(scope, receive, send)


@router.get("/models")
async def list_models(serving: ServingNow, caller: CallerNow) -> Json:
    """Return the graphs that the caller sees, as models."""
    return {"object": "list", "data": await list_chat_models(serving, caller)}


@router.get("/models/{model}")
async def show_model(model: str, serving: ServingNow, caller: CallerNow) -> Json:
    """Return a graph as a model."""
    await find_model(serving, caller, model)
    return make_model_entry(model)


@router.post("/chat/completions")
async def complete(
    body: ChatRequest, request: Request, serving: ServingNow, caller: CallerNow
) -> Response:
    """Answer the last message of a conversation."""
    run = await cast(Chats, request.app.state.chats).begin(serving, caller, body)
    usage = body.stream_options is not None and bool(body.stream_options.include_usage)
    quoted = serving.pgs.synthesis_llm.name == EXTRACTIVE
    replies = ChatReplies(run, body.model, quoted, usage)
    if not body.stream:
        return JSONResponse(await replies.whole())
    return StreamedChat(serving, run.awaited.run.graph, replies.stream())


SILENCE_S = 10.0
"""Seconds of silence after which a comment is sent to keep the connection open."""
PING = ": still working\n\n"
DONE = "data: [DONE]\n\n"
FAULT = Failure(error="unexpected error of pgs", code="fault", fix="see the log of the server")
PHASES = {
    "partition": "Partitioning the graph.",
    "route": "Choosing the partitions to read.",
    "search": "Searching.",
    "synthesize": "Writing the answer.",
}
UNREAD_TEXTS_NOTE = (
    "The files and texts that the chat program sent with the question were not read."
)
REVISED_NOTE = "The text above was revised when it was complete. This is the answer:"


@dataclass(frozen=True, slots=True)
class ChatReplies:
    """The replies about one run. With ``usage``, a stream ends with the usage of the run."""

    run: ChatRun
    model: str
    quoted: bool = False
    usage: bool = False
    silence_s: float = SILENCE_S

    async def whole(self) -> Json:
        """Return the answer as one reply. Raises the error that ended the run."""
        document = await self.run.document()
        message = {
            "role": "assistant",
            "content": to_message(document, has_other_texts=self.run.has_other_texts),
        }
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": _find_finish_reason(document.answer),
        }
        return self._make_reply(
            "chat.completion",
            [choice],
            usage=_count_usage(document.answer),
            pgs=_list_facts(document),
        )

    async def stream(self) -> AsyncIterator[str]:
        """Yield the answer while it is written, after progress messages as reasoning."""
        yield self._make_delta({"role": "assistant", "content": ""})
        message = MessageStream(self.quoted, self.run.has_other_texts)
        try:
            async for entry in self.run.events(self.silence_s):
                if entry is None:
                    yield PING
                elif entry.name == "text_streamed":
                    if text := message.add(json.loads(entry.data)["text"]):
                        yield self._make_delta({"content": text})
                elif line := progress_line(entry):
                    yield self._make_delta({"reasoning_content": f"{line}\n"})
            document = await self.run.document()
        except PGSError as error:
            yield _format_event(chat_failure(status_of(error), failure_of(error)))
            return
        except Exception:
            yield _format_event(chat_failure(500, FAULT))
            raise
        yield self._make_delta({"content": message.end(document)})
        yield self._make_delta({}, _find_finish_reason(document.answer))
        if self.usage:
            yield self._make_chunk(
                [], usage=_count_usage(document.answer), pgs=_list_facts(document)
            )
        yield DONE

    def _make_delta(self, delta: Json, reason: str | None = None) -> str:
        return self._make_chunk([{"index": 0, "delta": delta, "finish_reason": reason}])

    def _make_chunk(self, choices: list[Json], **more: object) -> str:
        return _format_event(self._make_reply("chat.completion.chunk", choices, **more))

    def _make_reply(self, kind: str, choices: list[Json], **more: object) -> Json:
        return {
            "id": f"chatcmpl-{self.run.id}",
            "object": kind,
            "created": int(time()),
            "model": self.model,
            "choices": choices,
            **more,
        }


def progress_line(entry: LoggedEvent) -> str:
    """Return an event as a sentence; empty for minor events."""
    data = json.loads(entry.data)
    match entry.name:
        case "queued":
            return f"Place {data['place']} in the queue."
        case "phase_started":
            return PHASES.get(str(data["phase"]), "")
        case "routed":
            return f"{counted(len(data['routes']), 'partition')} to read."
        case "sweep_finished":
            read = counted(data["nodes_read"], "node")
            read += f" read{unproven_note(data.get('nodes_unproven', 0))}"
            return f"Partition {data['partition']}: {data['status']}, {read}."
    return ""


def _format_event(value: Json) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _find_finish_reason(answer: Answer) -> str:
    """Return ``length`` if a limit cut the answer short or ended the reading, else ``stop``."""
    return "length" if answer.stopped or not answer.synthesis.complete else "stop"


def _count_usage(answer: Answer) -> Json:
    usage = answer.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
    }


def _list_facts(document: Document) -> Json:
    """Return facts about an answer for which OpenAI's API has no field."""
    answer = document.answer
    return {
        "run": answer.run,
        "graph": answer.graph,
        "partial": answer.partial,
        "stopped": answer.stopped,
        "cost": plain_data(answer.cost),
        "calls": answer.usage.calls,
        "cached": answer.usage.cached,
        "estimated": answer.usage.estimated,
        "coverage": coverage_counts(answer.coverage),
        "own_coverage": coverage_counts(answer.own_coverage),
    }


def to_message(document: Document, *, has_other_texts: bool = False) -> str:
    """Return an answer with its sources and coverage, as Markdown.

    With ``has_other_texts``, a note says that other texts in the message were not read.
    """
    text = _render_text(document.answer) or wording.NO_SYNTHESIS
    note = f" {UNREAD_TEXTS_NOTE}" if has_other_texts else ""
    return f"{text}\n\n{_render_sources(document)}{note}"


@dataclass(slots=True)
class MessageStream:
    """Writes a message while its text arrives.

    With ``quoted``, marks in the text are not Markdown. A line is written once later text can no
    longer change how it is rendered.
    """

    quoted: bool = False
    has_other_texts: bool = False
    arrived: str = ""
    written: str = ""

    def add(self, text: str) -> str:
        """Add a piece of text; return the part of the message that can be shown now."""
        self.arrived += text
        if "\n" not in text:
            return ""
        blocks = _disarm(self.arrived[: self.arrived.rindex("\n")], quoted=self.quoted)
        finished = blocks[: blocks.rfind("\n") + 1]
        if len(finished) <= len(self.written) or not finished.startswith(self.written):
            return ""
        more, self.written = finished[len(self.written) :], finished
        return more

    def end(self, document: Document) -> str:
        """Return the rest of the message.

        If text that was already shown has been revised, the whole answer follows.
        """
        whole = to_message(document, has_other_texts=self.has_other_texts)
        if whole.startswith(self.written):
            return whole[len(self.written) :]
        return f"\n\n---\n\n{REVISED_NOTE}\n\n{whole}"


def _render_text(answer: Answer) -> str:
    return _disarm(answer.text, quoted=wording.quotes_only(answer, synthesis=True))


def _render_sources(document: Document) -> str:
    answer = document.answer
    stopped = f" {answer.stopped}." if answer.stopped else ""
    read = f"{figures.run_line(answer)}. Run {answer.run}.{stopped}"
    return "\n".join(("## Sources", "", *source_lines(document), "", _disarm(read, quoted=True)))


def _disarm(text: str, *, quoted: bool) -> str:
    return inert_blocks(text, _render_citation, quoted=quoted)


def _render_citation(group: tuple[Cited, ...]) -> str:
    return f"[{', '.join(name_of(*cited.place) for cited in group)}]"
