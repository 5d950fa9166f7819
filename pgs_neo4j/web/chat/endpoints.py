"""``/v1/models`` and ``/v1/chat/completions``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.chat.asking import Chats, find_model, list_chat_models, make_model_entry
from pgs_neo4j.web.chat.bodies import ChatRequest
from pgs_neo4j.web.chat.replies import ChatReplies
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
    run = await cast(Chats, request.app.state.chats).begin(caller, body)
    usage = body.stream_options is not None and bool(body.stream_options.include_usage)
    quoted = serving.pgs.synthesis_llm.name == EXTRACTIVE
    replies = ChatReplies(run, body.model, quoted, usage)
    if not body.stream:
        return JSONResponse(await replies.whole())
    return StreamedChat(serving, run.awaited.run.graph, replies.stream())
