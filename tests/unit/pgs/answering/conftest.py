"""Orders of answers, and a model of sweeps that helps a search with one short reply."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Found, GraphMapping
from pgs_neo4j.pgs.answering.record import AnswerOrder
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.pgs.request import Request
from tests.fakes.tokens import nothing_deleted


def answer_order(made: Found, config: PGSConfig | None = None, **given: Any) -> AnswerOrder:
    """An order for an answer from what was found."""
    run = RunOrder(
        request=Request(made.question),
        graph="papers",
        mapping=GraphMapping(),
        config=config or PGSConfig(),
    )
    return AnswerOrder(run=run, found=made, **given)


class Helper:
    """Tools and a record whose model gives this reply, or fails; ``asked`` counts calls."""

    def __init__(self, reply: str | Exception, llm: LLM | None = None) -> None:
        self.reply = reply
        self.asked = 0
        self.log = RunLog(ignore)
        self.keyword_llm = self.ordering_llm = llm or ScriptedLLM()
        self.calls = self
        self.db = SimpleNamespace(check_deleted=nothing_deleted)
        self.record: Any = SimpleNamespace(replies=SimpleNamespace(key=lambda *_: None))
        self.tools: Any = self

    def asks_receipts(self, llm: LLM) -> bool:
        """Return that its server is known to refuse a prompt that is too long."""
        del llm
        return False

    async def complete(self, *given: Any, **options: Any) -> Any:
        """Reply, or fail."""
        self.asked += 1
        if isinstance(self.reply, Exception):
            raise self.reply
        return SimpleNamespace(
            text=self.reply, usage=SimpleNamespace(cached=0), truncated=False, proven=True
        )
