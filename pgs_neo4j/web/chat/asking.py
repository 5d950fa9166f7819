"""Starts the run of a chat request, or joins the run of an identical request.

Chat programs see each graph as a model: its name, or its name and a mode, as in
``papers:continue``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import get_args
from weakref import WeakValueDictionary

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import Request, check_question
from pgs_neo4j.engine.live_work import is_active
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
from pgs_neo4j.web.shared import Serving, check_search_mode, visible_graph

LISTED = ("", "continue", "auto")
"""Modes that are listed for every graph. The other modes also work."""
SWEEPS: tuple[Mode, ...] = get_args(Mode)
SEARCHES: tuple[SearchMode, ...] = get_args(SearchMode)


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A graph and its mode: a search mode if ``search`` is set, else a mode of sweeps."""

    graph: str
    mode: Mode = "full"
    search: SearchMode | None = None


@dataclass(frozen=True, slots=True)
class ChatRun:
    """A run whose answer becomes a chat message."""

    serving: Serving
    awaited: AwaitedRun
    has_other_texts: bool = False
    """Whether the message also contained texts of the chat program, which are not read."""

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.awaited.run.id

    async def events(self, silence_s: float) -> AsyncIterator[LoggedEvent | None]:
        """Yield the events of the run, and None after each ``silence_s`` seconds without one.

        A reader that is too slow, or that joins after a deletion, gets no more text, because a part
        would be missing. The answer contains the whole text.
        """
        await self.serving.board.drop_deleted(self.awaited.run)
        log = self.awaited.run.log
        place, whole = log.start, True
        while True:
            try:
                async with asyncio.timeout(silence_s):
                    entry = await _next_event(log, place)
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
        """Wait for the run, and return its answer. Raises the error that ended the run."""
        answer = await self.awaited.answer()
        return await self.serving.pgs.runs.document(answer.run)


@dataclass(slots=True)
class Chats:
    """The chats of one server. A run in progress can be found by its request."""

    _active: WeakValueDictionary[str, AwaitedRun] = field(default_factory=WeakValueDictionary)

    async def begin(self, serving: Serving, caller: Caller, body: ChatRequest) -> ChatRun:
        """Start the run of a request, or join the run of the same request if it is in progress.

        Clients repeat a request after a lost connection. A run does not depend on the connection
        that started it.
        """
        caller.require("asker")
        serving.require_writing()
        body.check()
        found = body.question()
        question = found.question
        check_question(question)
        model = await find_model(serving, caller, body.model)
        if model.search is not None:
            check_search_mode(serving, caller, model.search)
        whole = bool(body.full_sweep)
        if whole and model.search is not None:
            raise RefusedParameterError(
                "full_sweep", f"{body.model} answers from a search, which reads no partition; use "
                f"{model.graph} or {model.graph}:continue"
            )  # fmt: skip
        session = caller.stored_session(body.session())
        key = "\0".join((body.model, session, question, str(whole)))
        # Look up the run before checking the budget, because the run in progress reserves the
        # caller's money. Look it up again afterwards, because the same request may have arrived in
        # the meantime.
        if (same := self._join_active(serving, key, found)) is not None:
            return same
        limit = await serving.remaining_cost(caller)
        if (same := self._join_active(serving, key, found)) is not None:
            return same
        run = LiveRun(
            id=serving.pgs.runs.new_id(),
            caller=caller,
            graph=model.graph,
            session=session,
            question=question,
            most_cost=limit or 0.0,
        )
        awaited = start_awaited(
            serving.board,
            run,
            lambda on_event: self._carry_out(serving, model, run, limit, on_event, whole),
        )
        self._active[key] = awaited
        return ChatRun(serving, awaited, found.has_other_texts)

    def _join_active(self, serving: Serving, key: str, found: AskedText) -> ChatRun | None:
        awaited = self._active.get(key)
        active = awaited is not None and is_active(awaited.run)
        if awaited is None or not active:
            return None
        return ChatRun(serving, awaited, found.has_other_texts)

    async def _carry_out(
        self,
        serving: Serving,
        model: ChatModel,
        run: LiveRun,
        limit: float | None,
        on_event: OnEvent,
        full_sweep: bool,
    ) -> Answer:
        knobs = Knobs() if limit is None else Knobs(max_cost=limit)
        pgs = serving.pgs
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
            return await pgs.execute(request, on_event=on_event)
        return await answer_from_search(pgs, run, model.search, None, on_event, **knobs)


async def _next_event(log: EventLog, place: int) -> LoggedEvent | None:
    """Return the event after the id ``place``; None at the end of the run."""
    async for entry in log.after(place):
        return entry
    return None


async def find_model(serving: Serving, caller: Caller, name: str) -> ChatModel:
    """Return the graph and mode that a model's name means. Raises UnknownGraphError."""
    graph, _, mode = name.partition(":")
    if not graph:
        raise _make_unknown_model(name)
    try:
        visible = await visible_graph(serving, caller, graph)
    except UnknownGraphError:
        raise _make_unknown_model(name) from None
    if mode in SEARCHES:
        return ChatModel(visible, search=mode)
    if mode and mode not in SWEEPS:
        raise _make_unknown_model(name)
    return ChatModel(visible, mode or "full")


async def list_chat_models(serving: Serving, caller: Caller) -> list[Json]:
    """Return entries for all models that the caller may ask."""
    names = caller.visible([graph.name for graph in await serving.pgs.graphs()])
    return [
        make_model_entry(":".join(filter(None, (name, mode)))) for name in names for mode in LISTED
    ]


def make_model_entry(name: str) -> Json:
    """Return a model in the format of OpenAI's API. Its time of creation is always 0."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "pgs_neo4j"}


def _make_unknown_model(name: str) -> UnknownGraphError:
    return UnknownGraphError(
        f"there is no model {name[:100]}; 'GET /v1/models' lists those you see"
    )
