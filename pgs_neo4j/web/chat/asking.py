"""Begins the run of a chat, or joins the one that the same request has begun.

To a chat program, a graph is a model: its name, or its name and a mode, as in ``papers:continue``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import get_args
from weakref import WeakValueDictionary

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import Request, check_question
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.export import Document
from pgs_neo4j.model import Answer, Mode, SearchMode
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.chat.bodies import ChatRequest, RefusedParameterError
from pgs_neo4j.web.chat.prompts import AskedText
from pgs_neo4j.web.routes.asking import answer_from_search
from pgs_neo4j.web.runs.awaited import AwaitedRun, start_awaited
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.runs.events import EventLog, LoggedEvent, MissedEventsError
from pgs_neo4j.web.shared import Serving, visible_graph

LISTED = ("", "continue", "auto")
"""Modes that every graph is listed with; the others are answered as well."""
SWEEPS: tuple[Mode, ...] = get_args(Mode)
SEARCHES: tuple[SearchMode, ...] = get_args(SearchMode)


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A graph and how it is asked: by sweeps, or by a search if there is one."""

    graph: str
    mode: Mode = "full"
    search: SearchMode | None = None


@dataclass(frozen=True, slots=True)
class ChatRun:
    """A run whose answer is a message."""

    serving: Serving
    awaited: AwaitedRun
    beside: bool = False
    """Whether the question came with texts of the chat program, which are not read."""

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.awaited.run.id

    async def events(self, silence_s: float) -> AsyncIterator[LoggedEvent | None]:
        """Yield its events, and None after each silence.

        A reader that is too slow, or that joins after a deletion, gets no more text, because a part
        would be missing. The answer has the whole text.
        """
        await self.serving.board.drop_deleted(self.awaited.run)
        log = self.awaited.run.log
        place, whole = log.start, True
        while True:
            try:
                async with asyncio.timeout(silence_s):
                    entry = await _following(log, place)
            except TimeoutError:
                yield None
                continue
            except MissedEventsError:
                place, whole = log.last, False
                continue
            if entry is None:
                return
            place = entry.id
            if whole or entry.name != "text_streamed":
                yield entry

    async def document(self) -> Document:
        """Return its answer when it has ended. Raises what ended it."""
        answer = await self.awaited.answer()
        return await self.serving.pgs.runs.document(answer.run)


@dataclass(slots=True)
class Chats:
    """The chats of one server; those in progress are found by their requests."""

    serving: Serving
    _active: WeakValueDictionary[str, AwaitedRun] = field(default_factory=WeakValueDictionary)

    async def begin(self, caller: Caller, asked: ChatRequest) -> ChatRun:
        """Start the run of a request. Nothing of it needs the connection any more.

        A request that repeats one in progress, as clients do after a lost connection, joins it.
        """
        caller.require("asker")
        self.serving.require_writing()
        asked.check()
        found = asked.question()
        question = found.question
        check_question(question)
        model = await chosen_model(self.serving, caller, asked.model)
        whole = bool(asked.full_sweep)
        if whole and model.search is not None:
            raise RefusedParameterError(
                "full_sweep", f"{asked.model} answers from a search, which reads no partition; use "
                f"{model.graph} or {model.graph}:continue"
            )  # fmt: skip
        session = caller.stored_session(asked.session())
        key = "\0".join((asked.model, session, question, str(whole)))
        # What it costs holds the money of its caller, so a repeated request is found before.
        if (same := self._repeated(key, found)) is not None:
            return same
        limit = await self.serving.remaining_cost(caller)
        if (same := self._repeated(key, found)) is not None:
            return same
        run = LiveRun(
            id=self.serving.pgs.runs.new_id(),
            caller=caller,
            graph=model.graph,
            session=session,
            question=question,
            most_cost=limit or 0.0,
        )
        awaited = start_awaited(
            self.serving.board, run, lambda hear: self._carry_out(model, run, limit, hear, whole)
        )
        self._active[key] = awaited
        return ChatRun(self.serving, awaited, found.beside)

    def _repeated(self, key: str, found: AskedText) -> ChatRun | None:
        awaited = self._active.get(key)
        active = awaited is not None and awaited.run.active
        if awaited is None or not active:
            return None
        return ChatRun(self.serving, awaited, found.beside)

    async def _carry_out(
        self, model: ChatModel, run: LiveRun, limit: float | None, hear: OnEvent, full_sweep: bool
    ) -> Answer:
        knobs = Knobs() if limit is None else Knobs(max_cost=limit)
        pgs = self.serving.pgs
        if model.search is None:
            request = Request(
                run.question,
                graph=model.graph,
                mode=model.mode,
                session=run.session,
                full_sweep=full_sweep,
                knobs=knobs,
                run_id=run.id,
            )
            return await pgs.execute(request, on_event=hear)
        return await answer_from_search(pgs, run, model.search, None, hear, **knobs)


async def _following(log: EventLog, place: int) -> LoggedEvent | None:
    """Return the event after an id; None at the end of the run."""
    async for entry in log.after(place):
        return entry
    return None


async def chosen_model(serving: Serving, caller: Caller, name: str) -> ChatModel:
    """Return what the name of a model stands for. Raises UnknownGraphError."""
    graph, _, mode = name.partition(":")
    if not graph:
        raise _unknown(name)
    try:
        visible = await visible_graph(serving, caller, graph)
    except UnknownGraphError:
        raise _unknown(name) from None
    if mode in SEARCHES:
        return ChatModel(visible, search=mode)
    if mode and mode not in SWEEPS:
        raise _unknown(name)
    return ChatModel(visible, mode or "full")


async def listed_models(serving: Serving, caller: Caller) -> list[Json]:
    """Return the models that the caller may ask."""
    names = caller.visible([graph.name for graph in await serving.pgs.graphs()])
    return [described(":".join(filter(None, (name, mode)))) for name in names for mode in LISTED]


def described(name: str) -> Json:
    """Return a model in the form of OpenAI's API, which wants a time that graphs do not have."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "pgs_neo4j"}


def _unknown(name: str) -> UnknownGraphError:
    return UnknownGraphError(
        f"there is no model {name[:100]}; 'GET /v1/models' lists those you see"
    )
