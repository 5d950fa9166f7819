"""Answers in the form of OpenAI's API, whole and as a stream.

The text of a message is Markdown without any mark, link, or picture that is not of pgs, since
programs show it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import time

from pgs_neo4j.errors import PGSError
from pgs_neo4j.export import Document, figures, wording
from pgs_neo4j.export.markdown import source_lines
from pgs_neo4j.export.written import inert_blocks
from pgs_neo4j.model import Answer
from pgs_neo4j.text.citations import Cited, name_of
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, unproven_note
from pgs_neo4j.web.chat.asking import ChatRun
from pgs_neo4j.web.failures import Failure, chat_failure, failure_of, status_of
from pgs_neo4j.web.runs.events import LoggedEvent
from pgs_neo4j.web.runs.served_data import coverage_counts

SILENCE_S = 10.0
"""Seconds of silence after which a comment keeps the connection open."""
PING = ": still working\n\n"
DONE = "data: [DONE]\n\n"
FAULT = Failure(error="unexpected error of pgs", code="fault", fix="see the log of the server")
PHASES = {
    "partition": "Partitioning the graph.",
    "route": "Choosing the partitions to read.",
    "search": "Searching.",
    "synthesize": "Writing the answer.",
}
BESIDE = "The files and texts that the chat program sent with the question were not read."
REWRITTEN = "The text above was revised when it was complete. This is the answer:"


@dataclass(frozen=True, slots=True)
class ChatReplies:
    """The replies about one run; ``usage``: a stream ends with what it cost."""

    run: ChatRun
    model: str
    quoted: bool = False
    usage: bool = False
    silence_s: float = SILENCE_S

    async def whole(self) -> Json:
        """Return the answer as one reply. Raises what ended the run."""
        document = await self.run.document()
        message = {"role": "assistant", "content": to_message(document, beside=self.run.beside)}
        choice = {"index": 0, "message": message, "finish_reason": _reason(document.answer)}
        return self._reply(
            "chat.completion", [choice], usage=_usage(document.answer), pgs=_facts(document)
        )

    async def stream(self) -> AsyncIterator[str]:
        """Yield the answer as it is written; what is done before it, as reasoning."""
        yield self._delta({"role": "assistant", "content": ""})
        message = MessageStream(self.quoted, self.run.beside)
        try:
            async for entry in self.run.events(self.silence_s):
                if entry is None:
                    yield PING
                elif entry.name == "text_streamed":
                    if text := message.add(json.loads(entry.data)["text"]):
                        yield self._delta({"content": text})
                elif line := progress_line(entry):
                    yield self._delta({"reasoning_content": f"{line}\n"})
            document = await self.run.document()
        except PGSError as error:
            yield _data(chat_failure(status_of(error), failure_of(error)))
            return
        except Exception:
            yield _data(chat_failure(500, FAULT))
            raise
        yield self._delta({"content": message.end(document)})
        yield self._delta({}, _reason(document.answer))
        if self.usage:
            yield self._chunk([], usage=_usage(document.answer), pgs=_facts(document))
        yield DONE

    def _delta(self, delta: Json, reason: str | None = None) -> str:
        return self._chunk([{"index": 0, "delta": delta, "finish_reason": reason}])

    def _chunk(self, choices: list[Json], **more: object) -> str:
        return _data(self._reply("chat.completion.chunk", choices, **more))

    def _reply(self, kind: str, choices: list[Json], **more: object) -> Json:
        return {
            "id": f"chatcmpl-{self.run.id}",
            "object": kind,
            "created": int(time()),
            "model": self.model,
            "choices": choices,
            **more,
        }


def progress_line(entry: LoggedEvent) -> str:
    """Return an event as a sentence; empty for those that say little."""
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


def _data(value: Json) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _reason(answer: Answer) -> str:
    """Return ``length`` if a limit cut the answer or what it rests on."""
    return "length" if answer.stopped or not answer.synthesis.complete else "stop"


def _usage(answer: Answer) -> Json:
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


def _facts(document: Document) -> Json:
    """Return what OpenAI's API has no field for."""
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


def to_message(document: Document, *, beside: bool = False) -> str:
    """Return an answer with the list of its sources, and what it has read.

    ``beside``: the question came with texts of the chat program, which were not read.
    """
    text = _text(document.answer) or wording.NO_SYNTHESIS
    note = f" {BESIDE}" if beside else ""
    return f"{text}\n\n{_end(document)}{note}"


@dataclass(slots=True)
class MessageStream:
    """Writes a message while its text arrives; ``quoted``: its marks are not Markdown.

    A line is written when the next one shows that it stays as it is.
    """

    quoted: bool = False
    beside: bool = False
    arrived: str = ""
    written: str = ""

    def add(self, text: str) -> str:
        """Take a piece of the text; return what can be shown of the message by now."""
        self.arrived += text
        if "\n" not in text:
            return ""
        blocks = _inert(self.arrived[: self.arrived.rindex("\n")], quoted=self.quoted)
        sure = blocks[: blocks.rfind("\n") + 1]
        if len(sure) <= len(self.written) or not sure.startswith(self.written):
            return ""
        more, self.written = sure[len(self.written) :], sure
        return more

    def end(self, document: Document) -> str:
        """Return the rest of the message.

        A text that became another one after it had been shown follows as a whole.
        """
        whole = to_message(document, beside=self.beside)
        if whole.startswith(self.written):
            return whole[len(self.written) :]
        return f"\n\n---\n\n{REWRITTEN}\n\n{whole}"


def _text(answer: Answer) -> str:
    return _inert(answer.text, quoted=wording.quotes_only(answer, synthesis=True))


def _end(document: Document) -> str:
    answer = document.answer
    stopped = f" {answer.stopped}." if answer.stopped else ""
    read = f"{figures.run_line(answer)}. Run {answer.run}.{stopped}"
    return "\n".join(("## Sources", "", *source_lines(document), "", _inert(read, quoted=True)))


def _inert(text: str, *, quoted: bool) -> str:
    return inert_blocks(text, _name, quoted=quoted)


def _name(group: tuple[Cited, ...]) -> str:
    return f"[{', '.join(name_of(*cited.place) for cited in group)}]"
