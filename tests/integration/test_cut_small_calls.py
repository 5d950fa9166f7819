"""Judgments, descriptions, condensed reports, and skeletons come from prompts read as a whole.

The server cuts them and counts no tokens, so nothing but the codes shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.enrich.arbiter import ModelArbiter, ShownName
from pgs_neo4j.documents.enrich.describe import ModelDescriber
from pgs_neo4j.documents.enrich.judging import NamesJudged, judge_shown
from pgs_neo4j.documents.extract.model import PAID, ModelExtractor
from pgs_neo4j.errors import ModelOutputError, PromptTooLongError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint as ModelEndpoint
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Synthesis
from pgs_neo4j.pgs.synthesis.reply import SynthesisTools
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.analogies import SMALL, linked, planted, skeleton_of, true_pairs
from tests.conftest import Endpoint
from tests.engines import with_model
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.tokens import nothing_deleted
from tests.fakes.windows import Cut, Window
from tests.fakes.wires import listed
from tests.orders import swept, synthesis_order
from tests.unit.documents.extract.test_model import Kept, chunk_of
from tests.unit.pgs.synthesis.test_condense import hierarchy

pytestmark = pytest.mark.usefixtures("no_waits")

CUTS: list[Cut] = ["refuse", "head", "tail", "middle"]
PAIRS = [
    (ShownName(f"Bill {n}", "Person", ["x" * 300]), ShownName(f"William {n}", "Person", ["y" * 90]))
    for n in range(10)
]
LETTERS = "abcdefghijkl"
PASSAGES = [f"Paris has the bridge of word{letter}. {'It stands. ' * 60}" for letter in LETTERS]


def judge_seen(seen: str) -> str:
    """Judge the pairs that were shown as a whole."""
    numbers = re.findall(r"^(\d+)\.\n<passage>\n[^<]*</passage>", seen, re.MULTILINE)
    return "\n".join(f"{number}. same" for number in numbers)


def describe_seen(seen: str) -> str:
    """Name each bridge that was shown."""
    return " ".join(
        f"Paris has the bridge of {word}." for word in dict.fromkeys(re.findall(r"word[a-l]", seen))
    )


def condense_seen(seen: str) -> str:
    """Repeat the claim of each report that was shown."""
    claims = dict.fromkeys(re.findall(r"claim (\d+) .*?(\[P\d+:n1\])", seen))
    findings = "\n".join(f"- claim {number} {cited}" for number, cited in claims)
    return f"## Domain State\nRead.\n\n## Findings\n{findings or 'None.'}\n"


def restate_seen(seen: str) -> str:
    """Write the skeleton of each text that was shown."""
    titles = re.findall(r"^\[(n\d+)\] (\w+ \d+).*\n\| .*\.$", seen, re.MULTILINE)
    return "\n".join(f"{alias}: {skeleton_of(title)}" for alias, title in titles)


@contextmanager
def serving(
    context: int,
    cut: Cut,
    reply: Callable[[str], str],
    *,
    repeats: bool = True,
    counts: bool = False,
) -> Iterator[tuple[FakeOpenAI, OpenAILLM]]:
    """A server that cuts prompts and may count no tokens, and a client of its model."""

    def count(tokens: int) -> int | None:
        return tokens if counts else None

    with FakeOpenAI() as fake:
        fake.refuse = Window(context, cut, repeats=repeats, count=count, reply=reply)
        yield fake, OpenAILLM("reader", ModelEndpoint(fake.base_url, SecretStr("sk-no"), 60.0))


@pytest.mark.parametrize("cut", CUTS)
async def test_each_pair_of_names_is_judged_from_all_that_is_said(cut: Cut) -> None:
    with serving(700, cut, judge_seen) as (_, llm):
        calls = Calls.of(PGSConfig(), {})
        done = NamesJudged()
        assert await judge_shown(ModelArbiter(llm, calls), PAIRS, done) == [True] * len(PAIRS)
        assert (calls.uncounted, done) == (0, NamesJudged())
        await llm.close()


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("place", [0, 4, 9])
async def test_a_pair_that_is_too_long_alone_is_named_and_the_others_are_judged(
    cut: Cut, place: int
) -> None:
    long = (ShownName("Wolfe " * 3_000, "Person"), ShownName("Wolf", "Person"))
    with serving(700, cut, judge_seen) as (_, llm):
        done = NamesJudged()
        pairs = [*PAIRS[:place], long, *PAIRS[place:]]
        said = await judge_shown(ModelArbiter(llm, Calls.of(PGSConfig(), {})), pairs, done)
        await llm.close()
    assert [at for at, one in enumerate(said) if one is not True] == [place]
    assert (said[place], done.ended, bool(done.why)) == (None, False, True)
    assert [one.startswith("Wolfe Wolfe") for one in done.refused] == [True]


@pytest.mark.parametrize("cut", CUTS)
async def test_a_description_is_of_all_passages(cut: Cut) -> None:
    with serving(1_000, cut, describe_seen) as (_, llm):
        describer = ModelDescriber(llm, Calls.of(PGSConfig(), {}), Kept())
        said = await describer.describe("Paris", "City", PASSAGES)
        await llm.close()
    assert {f"word{letter}" for letter in LETTERS} <= set(re.findall(r"word\w", said))


async def test_one_passage_that_is_too_long_is_not_described() -> None:
    with serving(500, "tail", describe_seen) as (_, llm):
        describer = ModelDescriber(llm, Calls.of(PGSConfig(), {}), Kept())
        with pytest.raises(PromptTooLongError):
            await describer.describe("Paris", "City", [PASSAGES[0] * 8])
        await llm.close()


@pytest.mark.parametrize(("task", "bought"), [("describe", 1), ("extract", 3)])
async def test_kept_replies_that_nothing_proves_are_named_when_they_are_used_again(
    task: str, bought: int
) -> None:
    replies, unproven = Kept(), list[int]()
    write = describe_seen if task == "describe" else lambda seen: "<|COMPLETE|>"
    with serving(10**6, "tail", write, repeats=False) as (fake, llm):
        for _ in range(2):
            calls = Calls.of(PGSConfig(), {})
            if task == "describe":
                await ModelDescriber(llm, calls, replies).describe("Paris", "City", PASSAGES[:2])
            else:
                # The first of two replies is kept, as if the ingestion had broken off after it.
                extractor = ModelExtractor(llm, calls, EntitySchema(), None, "1", replies)
                (said,) = await extractor.extract([chunk_of()])
                assert not said.proven
            unproven.append(calls.uncounted)
        assert len(fake.chats) == bought
        await llm.close()
    assert unproven[0] == unproven[1] > 0


async def test_describing_and_judging_ask_what_the_model_takes() -> None:
    with serving(10**6, "tail", judge_seen) as (fake, llm):
        fake.pages["/v1/models"] = listed(max_model_len=30_000)
        for task in ("judge", "describe"):
            calls = Calls.of(PGSConfig(), {})
            if task == "judge":
                await ModelArbiter(llm, calls).judge(PAIRS[:1])
            else:
                with pytest.raises(ModelOutputError):  # the reply describes nothing
                    await ModelDescriber(llm, calls, Kept()).describe("Paris", "City", PASSAGES[:2])
            known = calls.contexts.of("reader")
            assert known is not None
            assert known.tokens == 30_000
        await llm.close()


def test_a_reply_that_was_kept_without_the_word_is_unproven() -> None:
    assert not PAID.validate_json('{"text": "", "truncated": false}').proven


async def condensed(
    cut: Cut, *, repeats: bool = True, counts: bool = False
) -> tuple[Synthesis, str, list[str]]:
    """Return the answer over 40 reports, its prompt, and the warnings."""
    parts, units = hierarchy(40)
    sweeps = [
        swept(n, [(f"claim {n} {'word ' * 60}[n1]", [0])], [], [], state="S.") for n in range(1, 41)
    ]
    config, warnings = PGSConfig(max_pass_characters=14_000), list[str]()
    writer = ScriptedLLM(lambda prompt: "## Thesis\nSo it is.\n")
    with serving(1_700, cut, condense_seen, repeats=repeats, counts=counts) as (_, llm):
        tools = SynthesisTools(
            llm=writer,
            calls=Calls.of(config, {}),
            replies=None,
            on_event=ignore,
            warn=warnings.append,
            check_deleted=nothing_deleted,
            reducing_llm=llm,
        )
        order = synthesis_order("Why?", sweeps, parts, config, units=units)
        made = await write_synthesis(order, tools)
        await llm.close()
    return made, writer.prompts[-1].user, warnings


@pytest.mark.parametrize("cut", CUTS)
async def test_reports_are_condensed_from_all_of_them(cut: Cut) -> None:
    made, prompt, _ = await condensed(cut)
    assert made.reductions > 3
    assert made.proven
    told = {int(number) for number in re.findall(r"claim (\d+)", prompt)}
    assert told == {*range(1, 41)}


@pytest.mark.parametrize("cut", CUTS)
async def test_reports_are_proven_where_only_the_context_is_unknown(cut: Cut) -> None:
    made, _, warnings = await condensed(cut, counts=True)
    assert made.proven
    assert not any("does not repeat" in said for said in warnings)


async def test_reports_condensed_without_proof_are_named() -> None:
    made, _, warnings = await condensed("tail", repeats=False)
    assert not made.proven
    assert any("that condensed reports: its reply does not repeat" in said for said in warnings)


@pytest.mark.parametrize("cut", CUTS)
async def test_each_skeleton_is_of_a_whole_text(endpoint: Endpoint, db: Database, cut: Cut) -> None:
    mapping = await planted(db)
    with serving(700, cut, restate_seen) as (fake, llm):
        await llm.close()
        async with with_model(endpoint, fake, **SMALL) as pgs:
            await pgs.graphs.add("notes", mapping)
            made = await pgs.analogies("notes")
    assert (made.missing, made.warnings) == (0, ())
    assert await linked(db) == true_pairs()
