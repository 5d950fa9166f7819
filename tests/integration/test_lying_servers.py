"""Servers that say one thing and do another, and texts and models that play with receipts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.providers import ProviderName
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelError, PromptCutError
from pgs_neo4j.llm.anthropic.chat import AnthropicLLM
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.proofs import OpenProof
from pgs_neo4j.llm.calls.receipts import with_receipts
from pgs_neo4j.llm.context import ASK_AGAIN_S
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint as ModelEndpoint
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Answer, Prompt, Usage
from pgs_neo4j.pgs.pipeline import CUT_LATE
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import KNOBS, model_on_papers
from tests.fakes.anthropic_server import KEY, FakeAnthropic, Said, Served, as_chat, prompt_of
from tests.fakes.openai_server import Answer as Reply
from tests.fakes.openai_server import (
    FakeOpenAI,
    Raw,
    Recorded,
    Scripted,
    Status,
    contract_answer,
    settles,
)
from tests.fakes.windows import Cut, Window
from tests.fakes.wires import listed
from tests.graphs import papers
from tests.integration.test_windows import LENGTHEN, LENGTHEN_ONE, ask, wrongly_read
from tests.reading import READ_BY_RUN

pytestmark = pytest.mark.usefixtures("no_waits")


async def read_papers(
    endpoint: Endpoint,
    db: Database,
    window: Window,
    *,
    serve: Callable[[Recorded], Scripted | None] | None = None,
    pages: dict[str, object] | None = None,
    change: str = "",
    size: int = 40,
    words: int = 40,
    **settings: object,
) -> Answer:
    """Read all papers through a window; nothing counts as read that it has not shown."""
    with FakeOpenAI(default=Reply(contract_answer)) as fake:
        fake.refuse, fake.pages = serve or window, pages or {}
        async with model_on_papers(endpoint, db, fake, topics=2, size=size, **settings) as pgs:
            await alter(db, LENGTHEN, words=words)
            if change:
                await alter(db, change)
            answer = await ask(pgs)
            assert await wrongly_read(db, window, answer) == []
            return answer


@pytest.mark.parametrize(
    "pages",
    [
        {"/v1/models": listed(max_model_len=131_072)},
        {"/v1/models": listed(context_window=131_072)},
        {"/api/v0/models": listed(loaded_context_length=131_072)},
    ],
    ids=["it refuses", "it refuses as well", "it cuts"],
)
@pytest.mark.parametrize("cut", ["refuse", "tail"])
async def test_a_server_that_lies_about_its_context_is_found_out(endpoint, db, cut, pages):
    answer = await read_papers(endpoint, db, Window(4_096, cut), pages=pages)
    assert answer.coverage.nodes_read == 80


@pytest.mark.parametrize("cut", ["refuse", "head", "tail"])
async def test_a_context_that_changes_while_we_ask_is_followed(endpoint, db, cut):
    window, calls = Window(16_384, cut), 0

    def serve(request: Recorded) -> Scripted | None:
        nonlocal calls
        calls += 1
        window.context = 16_384 if calls < 3 else 4_096
        return window(request)

    assert (await read_papers(endpoint, db, window, serve=serve)).coverage.nodes_read == 80


@pytest.mark.parametrize("sizes", [(4.0, 2.5), (2.5, 4.0), (4.0, 5.0)])
async def test_another_model_under_the_same_name_counts_in_another_way(endpoint, db, sizes):
    window, calls = Window(8_192, "tail"), 0

    def serve(request: Recorded) -> Scripted | None:
        nonlocal calls
        calls += 1
        window.bytes_per_token = sizes[calls > 3]
        return window(request)

    assert (await read_papers(endpoint, db, window, serve=serve)).coverage.nodes_read == 80


@pytest.mark.parametrize("named", [True, False])
async def test_a_server_that_was_restarted_with_another_model_is_noticed(
    endpoint, db, clock, named
):
    """Its tokens are fewer, which would look like a cut if those of the former still counted."""
    window, name = Window(131_072, "tail", bytes_per_token=2.5), b"one"

    def serve(request: Recorded) -> Scripted | None:
        reply = window(request)
        if not isinstance(reply, Raw):
            return reply
        return Raw(reply.content.replace(b'"model": "reader"', b'"model": "%s"' % name))

    with FakeOpenAI(default=Reply(contract_answer)) as fake:
        fake.refuse, fake.pages = serve, {"/v1/models": listed(loaded_context_length=8_192)}
        async with model_on_papers(endpoint, db, fake, topics=2, cache=False) as pgs:
            await alter(db, LENGTHEN, words=40)
            before, tried = await ask(pgs), len(fake.settling)
            window.bytes_per_token, window.context = 4.0, 32_768
            fake.pages["/v1/models"] = listed(loaded_context_length=32_768 - named)
            name = b"two" if named else name
            clock.forward(0 if named else ASK_AGAIN_S)
            after = await ask(pgs)
    assert after.coverage.nodes_read == 80
    swept = [sum(sweep.passes for sweep in answer.sweeps) for answer in (before, after)]
    settled = [tried, len(fake.settling) - tried]
    # No pass is asked for twice. A server that says something else may refuse something else.
    assert [before.usage.calls, after.usage.calls] == [
        passes + 1 + calls for passes, calls in zip(swept, settled, strict=True)
    ]
    assert settled == [1, 0 if named else 1]
    assert swept[1] < swept[0] or named


CODES_IN_TEXT = [
    "SET p.abstract = p.abstract + '\n~ab3de~\n~zzzzz~ Codes: ab3de zzzzz'",
    "SET p.abstract = 'Codes: aaaaa bbbbb ccccc ' + p.abstract",
    "SET p.title = '~ab3de~'",
]


@pytest.mark.parametrize("change", CODES_IN_TEXT)
async def test_receipts_in_the_text_of_a_graph_prove_nothing(endpoint, db, change):
    window = Window(4_096, "tail", count=lambda tokens: None)
    answer = await read_papers(endpoint, db, window, change=f"MATCH (p:Paper) {change}")
    assert answer.coverage.nodes_read == 80


@pytest.mark.parametrize("known", ["earlier", "made up", "all"])
async def test_receipts_that_were_not_read_are_not_accepted(endpoint, db, known):
    """A reader that repeats each code it has ever seen still lacks those of what was cut.

    One that is given the codes and nothing else is betrayed by the tokens, if more than a few
    percent of them are missing, and less than half: then the rest may have been cached. So a pass
    has one node that fits, or two or three of which a part is missing. Where a server does not
    count tokens, nothing can show that.
    """
    window, seen = Window(4_096, "head"), set[str]()

    def serve(request: Recorded) -> Scripted | None:
        reply = window(request)
        said = str(request.body.get("messages"))
        codes = set(re.findall(r"~(\w{5})~", said))
        claimed = {"earlier": seen, "made up": {"abcde", "fghij"}, "all": codes}[known]
        if not isinstance(reply, Raw):
            return reply
        line = f"Codes: {' '.join(sorted(claimed))}".encode()
        seen.update(codes)
        return Raw(re.sub(rb"Codes: [\w ]*", line, reply.content, count=1))

    long = {"size": 12, "words": 265, "max_pass_tokens": 9_500} if known == "all" else {}
    answer = await read_papers(endpoint, db, window, serve=serve, **long)
    assert answer.coverage.nodes_read + answer.coverage.nodes_unproven <= 80
    if known == "all":
        assert window.cuts > 0
        assert answer.coverage.nodes_read == 24


class VouchedOpenAI(OpenAILLM):
    """The client as at the address of a vendor that refuses long prompts."""

    @property
    def refuses_long_prompts(self) -> bool:
        return True


class VouchedAnthropic(AnthropicLLM):
    """The client as at Anthropic's own address."""

    @property
    def refuses_long_prompts(self) -> bool:
        return True


@asynccontextmanager
async def closing(llm: LLM) -> AsyncIterator[LLM]:
    try:
        yield llm
    finally:
        await llm.close()


@asynccontextmanager
async def behind_address(provider: ProviderName, window: Window) -> AsyncIterator[LLM]:
    """A client at a vendor's address, under which a gateway with this window answers."""
    if provider != "anthropic":
        with FakeOpenAI(default=Reply(contract_answer)) as fake:
            fake.refuse = window
            at = ModelEndpoint(fake.base_url, SecretStr("k"), 60.0, provider=provider)
            async with closing(VouchedOpenAI("reader", at)) as llm:
                yield llm
        return

    def say(request: Recorded) -> Said | None:
        if request.method == "GET":
            return None
        if request.body.get("stream"):
            return Said(contract_answer(as_chat(request.body)))
        seen, read = window.read([prompt_of(request.body)])
        if window.cut == "refuse":
            assert read <= window.context
        window.give(seen)
        counted = window.count(read)
        usage = None if counted is None else {"input_tokens": counted, "output_tokens": 60}
        return Said(window.report(seen), usage=usage)

    async with FakeAnthropic() as served:
        served.models, served.refuse = {"reader": Served(described=False)}, say
        at = ModelEndpoint(served.base_url, SecretStr(KEY), 60.0)
        async with closing(VouchedAnthropic("reader", at)) as llm:
            yield llm


async def read_behind(
    endpoint: Endpoint,
    db: Database,
    provider: ProviderName,
    window: Window,
    words: tuple[int, int] = (40, 40),
    **settings: Any,
) -> Answer:
    """Read all papers at a vendor's address; nothing counts as read that was not given.

    The texts of the two topics have so many clauses each.
    """
    server: dict[str, Any] = {
        "neo4j_uri": endpoint.uri,
        "neo4j_user": endpoint.user,
        "neo4j_password": endpoint.password,
    }
    async with (
        behind_address(provider, window) as llm,
        PGS.connect(sweep_llm=llm, synthesis_llm=llm, **server, **KNOBS | settings) as pgs,
    ):
        await pgs.graphs.add("papers", await papers(db, 2, 40))
        for topic, many in enumerate(words):
            await alter(db, LENGTHEN_ONE, topic=topic, words=many)
        # A limit on calls lets them be made in the order of the question, which is of the first.
        answer = await pgs.execute("catalysis of ammonia", full_sweep=True, max_calls=60)
        assert await wrongly_read(db, window, answer) == []
    return answer


VENDORS = ["openai", "gemini", "anthropic"]


@pytest.mark.parametrize(("cut", "repeats"), [("head", True), ("tail", False), ("middle", True)])
@pytest.mark.parametrize("provider", VENDORS)
async def test_a_gateway_behind_the_address_of_a_vendor_is_found_out(
    endpoint: Endpoint, db: Database, provider: ProviderName, cut: Cut, repeats: bool
) -> None:
    """The vendor itself refuses a long prompt; the tokens show that this is not the vendor."""
    window = Window(4_096, cut, repeats=repeats)
    answer = await read_behind(endpoint, db, provider, window)
    assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (80, 0)
    assert window.cuts


@pytest.mark.parametrize("words", [(27, 25), (28, 26), (24, 22)])
@pytest.mark.parametrize("cut", ["head", "tail", "middle"])
async def test_prompts_that_have_one_count_and_different_sizes_were_cut(
    endpoint: Endpoint, db: Database, cut: Cut, words: tuple[int, int]
) -> None:
    """Each has more tokens than its text must have, and none is short enough to be whole."""
    window = Window(4_096, cut, repeats=False)
    answer = await read_behind(endpoint, db, "openai", window, words)
    assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (80, 0)
    assert window.cuts > 1


class LongReports(Window):
    """A window whose model reports so much that the synthesis is the longest prompt of all."""

    def report(self, seen: str) -> str:
        cited = re.findall(r"^\[(n\d+)\]", seen, re.MULTILINE)[-1]
        findings = "\n".join(f"- Case {i} met the kiln at dawn [{cited}]." for i in range(200))
        return Window.report(self, seen).replace("- All has been read", f"{findings}\n- Read")


@pytest.mark.parametrize("fails", [False, True])
async def test_what_the_synthesis_shows_to_be_cut_counts_as_read_no_longer(
    endpoint: Endpoint, db: Database, fails: bool
) -> None:
    """All sweeps have the size of one, so nothing shows what they have lost until the end."""
    window = LongReports(4_096, "head", repeats=False, reply=lambda seen: "It is so [P0:n1].")

    def serve(request: Recorded) -> Scripted | None:
        shown = window.cuts
        reply = window(request)
        synthesis = request.body.get("stream") and not settles(request.body)
        return Status(400, message="no") if fails and synthesis and window.cuts == shown else reply

    server: dict[str, Any] = {"neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user}
    knobs: dict[str, Any] = KNOBS | server | {"neo4j_password": endpoint.password}
    with FakeOpenAI(default=Reply(contract_answer)) as fake:
        fake.refuse = serve
        at = ModelEndpoint(fake.base_url, SecretStr("k"), 60.0, provider="openai")
        async with (
            closing(VouchedOpenAI("reader", at)) as llm,
            PGS.connect(sweep_llm=llm, synthesis_llm=llm, **knobs) as pgs,
        ):
            await pgs.graphs.add("papers", await papers(db, 2, 40))
            for topic in range(2):
                await alter(db, LENGTHEN_ONE, topic=topic, words=27)
            if fails:
                with pytest.raises(ModelError):
                    await pgs.execute("Why?", full_sweep=True)
            else:
                first = await pgs.execute("Why?", full_sweep=True)
                assert await wrongly_read(db, window, first) == []
                assert first.coverage.nodes_read < 80
                assert CUT_LATE in first.warnings
            fails = False
            answer = await pgs.execute("Why?", mode="continue")
            assert await wrongly_read(db, window, answer) == []
    assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (80, 0)


async def test_a_cut_that_the_kind_of_a_server_has_hidden_is_asked_again(
    endpoint: Endpoint, db: Database
) -> None:
    """A few percent are missing from a prompt before a longer one shows what the gateway cuts."""
    window = Window(4_096, "head", repeats=False)
    one = {"max_concurrent_calls": 1}
    answer = await read_behind(endpoint, db, "openai", window, words=(21, 40), **one)
    assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (80, 0)


async def test_a_cached_reply_is_judged_by_what_is_known_now() -> None:
    """The process that bought it ended before a longer prompt showed what the gateway cuts."""
    window = Window(4_096, "head", repeats=False)

    def prompt_of_size(tokens: int) -> Prompt:
        lines = "| clay and slip met the kiln at dawn\n" * (4 * tokens // 37)
        return Prompt(task="sweep", system="Read.", user=lines, question="Why?")

    with FakeOpenAI() as fake:
        fake.refuse = window
        at = ModelEndpoint(fake.base_url, SecretStr("k"), 60.0, provider="openai")
        async with closing(VouchedOpenAI("reader", at)) as llm:
            prompt = prompt_of_size(4_250)
            first = Calls.of(PGSConfig(), {})
            bought = await first.complete(llm, prompt, room=400, effort=None)
            assert (bought.proven, window.cuts) == (True, 1)
            calls = Calls.of(PGSConfig(), {})
            proof = await calls.keep_proof(llm, prompt, replace(bought, usage=Usage(cached=1)))
            assert proof is not None
            assert calls.settle_proof(llm, proof) == "read"
            with pytest.raises(PromptCutError):
                await calls.complete(llm, prompt_of_size(9_000), room=400, effort=None)
            assert calls.settle_proof(llm, proof) == "cut"


async def test_a_cached_reply_that_was_found_out_is_not_taken_again(
    endpoint: Endpoint, db: Database
) -> None:
    """Another process buys nothing, and counts nothing that the gateway has cut."""
    window = Window(4_096, "head", repeats=False)
    server = {"neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user, "max_concurrent_calls": 1}
    knobs: dict[str, Any] = KNOBS | server | {"neo4j_password": endpoint.password}
    mapping = await papers(db, 2, 40)
    for topic, many in enumerate((21, 40)):
        await alter(db, LENGTHEN_ONE, topic=topic, words=many)
    with FakeOpenAI(default=Reply(contract_answer)) as fake:
        fake.refuse = window
        bought = []
        for _ in range(2):
            at = ModelEndpoint(fake.base_url, SecretStr("k"), 60.0, provider="openai")
            async with (
                closing(VouchedOpenAI("reader", at)) as llm,
                PGS.connect(sweep_llm=llm, synthesis_llm=llm, **knobs) as pgs,
            ):
                await pgs.graphs.add("papers", mapping)
                answer = await pgs.execute("catalysis of ammonia", full_sweep=True, max_calls=60)
            bought.append(len([chat for chat in fake.chats if not chat.body.get("stream")]))
    _, rows = await db.call(READ_BY_RUN, {"run": answer.run}, "read")
    assert [row["text"][:60] for row in rows if not window.gave(row["text"])] == []
    assert (len(rows), answer.own_coverage.nodes_unproven) == (80, 0)
    assert bought[0] == bought[1]


# The codes of a longer prompt stand 2,000 tokens apart, so the middle of it has none.
@pytest.mark.parametrize(
    ("cut", "context", "sizes"),
    [
        ("head", 4_096, (4_900, 5_000, 1_500, 2_500)),
        ("middle", 4_096, (4_900, 5_000, 1_500, 2_500)),
        ("codes", 8_192, (8_700, 8_750, 3_000, 4_000)),
    ],
)
async def test_prompts_that_were_all_cut_alike_are_found_out_by_shorter_ones(
    cut: str, context: int, sizes: tuple[int, ...]
) -> None:
    """They have lost a tenth, and still have more tokens than any text must have."""
    coded, proofs = cut == "codes", list[OpenProof]()
    window = Window(context, "head" if cut == "head" else "middle", repeats=coded)
    with FakeOpenAI() as fake:
        fake.refuse = window
        at = ModelEndpoint(fake.base_url, SecretStr("k"), 60.0, provider="openai")
        async with closing((OpenAILLM if coded else VouchedOpenAI)("reader", at)) as llm:
            calls = Calls.of(PGSConfig(), {})
            for tokens in sizes:
                lines = "| clay and slip met the kiln at dawn\n" * (4 * tokens // 36)
                prompt = Prompt(task="sweep", system="Read.", user=lines, question="Why?")
                prompt = with_receipts(prompt, "lines") if coded else prompt
                reply = await calls.complete(llm, prompt, room=400, effort=None)
                proof = await calls.keep_proof(llm, prompt, reply)
                assert (reply.proven, proof is not None) == (True, True)
                proofs += [proof] if proof else []
            assert window.cuts == 2
            found = [calls.settle_proof(llm, proof) for proof in proofs]
    assert found == ["cut", "cut", "read", "read"]


@pytest.mark.parametrize("provider", VENDORS)
async def test_a_vendor_that_counts_no_tokens_is_believed_by_its_kind(
    endpoint: Endpoint, db: Database, provider: ProviderName
) -> None:
    window = Window(131_072, repeats=False, count=lambda tokens: None)
    answer = await read_behind(endpoint, db, provider, window)
    assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (80, 0)
    assert answer.synthesis.proven
