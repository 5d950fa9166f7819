"""A real model of 135 million parameters, in contexts of 2,048 and 8,192 tokens.

It is far too small for the work, so no test here says what it finds. Whatever it does, a run ends
with an answer, or with one sentence that says why not, and that names refused reports; and what the
run counts as read is what the model was given in a prompt whose report was accepted. A search ends
with an answer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelOutputError, PGSError
from pgs_neo4j.events import Event, TextStreamed
from pgs_neo4j.model import Answer, Node
from pgs_neo4j.pgs.sweeping.report import parse_report
from pgs_neo4j.pgs.sweeping.short_report import SHORT_SYSTEM
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import KNOBS
from tests.graphs import papers
from tests.serving import events, served
from tests.small_model import NAME, Exchange, Relay, missing, relaying, small_model

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(bool(missing()), reason=missing()),
]

QUESTION = "Which paper studies the catalysis of ammonia?"
# Short replies, and an end in any case: it may say the same sentence for as long as it is let.
LIMITS: dict[str, Any] = {
    **KNOBS,
    "sweep_max_tokens": 100,
    "synthesis_max_tokens": 100,
    "max_concurrent_sweeps": 1,
    "max_concurrent_calls": 1,
    "max_calls": 8,
    "run_timeout_s": 240.0,
}
READ = """
MATCH (w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)<-[m:PGS_IN]-(n:Paper)
WHERE any(i IN range(0, size(w.read_first) - 1) WHERE w.read_first[i] <= m.rank < w.read_last[i])
RETURN DISTINCT n.abstract AS text
"""
NODE = re.compile(r"^\[(n(\d+))\] (.*)\n\| (.*)$", re.MULTILINE)
Ended = TypeVar("Ended")


@pytest.fixture(scope="module", params=[2_048, 8_192])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """The address of the model's server, with a context of so many tokens."""
    async with small_model(request.param) as address:
        yield address


@pytest.fixture
def relay(model: str) -> Iterator[Relay]:
    """What stands between pgs and that server, and records the chats."""
    with relaying(model) as running:
        yield running


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database, relay: Relay) -> AsyncIterator[PGS]:
    """An engine on two topics of papers, whose model is the small one."""
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_base_url=relay.base_url,
        llm_provider="openai",
        sweep_model=NAME,
        synthesis_model=NAME,
        **LIMITS,
    ) as opened:
        await opened.graphs.add("papers", await papers(db, topics=2, size=12))
        await opened.partitions.build("papers")
        yield opened


async def ended(work: Awaitable[Ended]) -> tuple[Ended | None, str]:
    """Return the result of some work, or the sentence of a typed error."""
    try:
        return await work, ""
    except PGSError as error:
        sentence = str(error)
        assert sentence
        assert "\n" not in sentence
        assert ". " not in sentence
        return None, sentence


def accepted(chat: Exchange) -> bool:
    """Whether the reply to a sweep is a whole report, which its contract allows to accept."""
    if "<nodes>" not in chat.prompt or chat.finish != "stop":
        return False
    shown = {
        alias: Node(rank=int(number) - 1, element_id=alias, key=alias, title=title, text=text)
        for alias, number, title, text in NODE.findall(chat.prompt)
    }
    try:
        parse_report(chat.text, 1, shown, short=SHORT_SYSTEM in chat.prompt)
    except ModelOutputError:
        return False
    return True


async def check_coverage(db: Database, relay: Relay, answer: Answer | None) -> int:
    """Compare what counts as read with what the model was given, and return how much it is."""
    given = {
        text for chat in relay.chats if accepted(chat) for *_, text in NODE.findall(chat.prompt)
    }
    read = {str(row["text"]) for row in await fetch(db, READ)}
    assert read <= given
    if answer is not None:
        assert answer.coverage.nodes_read == len(read)
        assert answer.coverage.nodes_total == 24
        assert answer.partial or len(read) == 24
        if not answer.stopped:
            assert read == given
    return len(read)


def report(name: str, relay: Relay, began: float, said: str) -> None:
    """Write one line of measures, which ``-s`` shows."""
    timings = [chat.timings for chat in relay.chats if chat.timings]
    tokens = {kind: sum(one[f"{kind}_n"] for one in timings) for kind in ("prompt", "predicted")}
    spent = {kind: sum(one[f"{kind}_ms"] for one in timings) / 1000 for kind in tokens}
    speeds = ", ".join(f"{tokens[k] / max(spent[k], 0.001):.0f} {k} tokens/s" for k in tokens)
    seconds = perf_counter() - began
    sys.stderr.write(f"\n{name}: {len(relay.chats)} calls, {seconds:.0f} s, {speeds}; {said}\n")


async def test_a_question_and_its_resumption_end_true(pgs: PGS, db: Database, relay: Relay) -> None:
    began = perf_counter()
    answer, sentence = await ended(pgs.execute(QUESTION, full_sweep=True, max_calls=4))
    read = await check_coverage(db, relay, answer)
    report("ask, 4 calls", relay, began, f"{read} read; {sentence or (answer and answer.stopped)}")
    asked, began = len(relay.chats), perf_counter()
    before = {chat.prompt for chat in relay.chats if accepted(chat)}
    runs = await fetch(db, "MATCH (r:PgsRun) RETURN r.id AS id")
    assert runs
    answer, sentence = await ended(pgs.resume(runs[0]["id"], max_calls=8))
    read = await check_coverage(db, relay, answer)
    assert answer is None or answer.text or answer.stopped
    said = f"{read} read; {sentence or (answer and (answer.stopped or answer.text))!r}"
    report("resume", relay, began, said)
    # What was paid for is not asked again.
    assert not before & {chat.prompt for chat in relay.chats[asked:]}


async def test_a_streamed_answer_is_the_text_that_was_shown(
    pgs: PGS, db: Database, relay: Relay
) -> None:
    began, events = perf_counter(), list[Event]()
    answer, sentence = await ended(pgs.execute(QUESTION, full_sweep=True, on_event=events.append))
    read = await check_coverage(db, relay, answer)
    streamed = "".join(event.text for event in events if isinstance(event, TextStreamed))
    said = f"{read} read; {sentence or (answer and (answer.stopped or answer.text))!r}"
    report("ask, streamed", relay, began, said)
    refused = [one for one in relay.chats if "<nodes>" in one.prompt and one.finish == "stop"]
    if answer is None and refused:  # then the sentence names a report that was refused
        assert "report" in sentence
    if answer is not None and answer.text:
        assert answer.text.split() == streamed.split()


async def test_a_stream_of_the_page_ends_with_what_it_showed(
    pgs: PGS, db: Database, relay: Relay
) -> None:
    began, body = perf_counter(), {"question": QUESTION, "graph": "papers", "full_sweep": True}
    async with served(pgs) as server, server.owner() as owner:
        asked = (await owner.post("/api/runs", json=body)).json()
        told = await events(owner, asked["events"])
        last = told[-1]
        read = await check_coverage(db, relay, None)
        if last.name == "answered":
            shown = (await owner.get(f"/api/runs/{asked['run']}/answer.json")).json()
            streamed = "".join(one.data["text"] for one in told if one.name == "text_streamed")
            assert shown["text"].split() == streamed.split()
            assert shown["coverage"]["nodes_read"] == read
        else:
            assert last.name == "failed"
            assert last.data["error"].strip()
            assert "\n" not in last.data["error"]
    said = last.data.get("error", "")
    report("page", relay, began, f"{read} read; {last.name}: {said}")


async def test_a_search_answers_from_what_it_showed(pgs: PGS, relay: Relay) -> None:
    began = perf_counter()
    found, sentence = await ended(pgs.search(QUESTION, graph="papers", answer=True))
    report(
        "search --answer",
        relay,
        began,
        repr(sentence or (found and found.answer and found.answer.text)),
    )
    # No contract can fail here, so what the model writes is the answer.
    assert found is not None
    assert found.answer is not None
    assert found.answer.shown is not None
    assert found.answer.text.strip()
    sent = "\n".join(chat.prompt for chat in relay.chats)
    assert all(
        (cited.title or "") in sent for cited in found.answer.synthesis.citations if cited.valid
    )


async def test_ten_pages_are_in_the_graph_or_named(
    pgs: PGS, db: Database, relay: Relay, tmp_path: Path
) -> None:
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text(
            f"In {1890 + number} Marie Curie wrote page {number} of her notes. "
            f"She met Pierre Curie in Paris and measured {number + 3} grams of pitchblende.\n"
        )
    began = perf_counter()
    done, sentence = await ended(pgs.ingest(tmp_path, "pages"))
    states = [(one.id, one.state, one.reason) for one in done.outcomes] if done else []
    report("ingest", relay, began, f"{sentence or (done and done.stopped)!r}, {states}")
    whole = "\n".join(chat.prompt for chat in relay.chats if chat.finish == "stop")
    for outcome in done.outcomes if done else ():
        if outcome.state == "added":
            assert f"wrote page {outcome.id[0]} of her notes" in whole
        else:
            assert outcome.reason or done.stopped
    stored = await fetch(db, "MATCH (d:Document {graph: 'pages'}) RETURN count(d) AS count")
    assert stored[0]["count"] == (done.count("added") if done else 0)
