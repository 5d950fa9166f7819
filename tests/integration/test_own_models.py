"""Models and embedders that people have written, from a question to its answer."""

from __future__ import annotations

import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import AllSweepsFailedError, ModelError, ModelUnavailableError
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Answer, Completion, Effort, Prompt, Usage
from pgs_neo4j.model.documents import DocumentSource
from pgs_neo4j.model.prompt import Task
from pgs_neo4j.text.tokens import estimate
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on
from tests.graphs import papers


class Own:
    """A model as a reader of the manual may write it, with no more than it needs."""

    name = "mine"

    def __init__(
        self,
        count: Callable[[Prompt], int | None] = lambda _: None,
        fault: Exception | None = None,
        task: Task = "sweep",
        usage: Usage | None = None,
    ) -> None:
        self.count, self.fault, self.task = count, fault, task
        self.usage = usage or Usage(calls=1, input_tokens=900, output_tokens=90)
        self.prompts: list[Prompt] = []

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        self.prompts.append(prompt)
        if self.fault is not None and prompt.task == self.task:
            raise self.fault
        return Completion(
            text=contract_reply(prompt),
            usage=self.usage,
            model=self.name,
            counted=self.count(prompt),
        )

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        whole = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        yield whole.text
        yield whole

    async def close(self) -> None: ...


class OwnSigned(Own):
    """One that says what decides its replies."""

    signature = "mine 1"


async def ask(pgs: PGS, model: Own, question: str = "Why?") -> Answer:
    """Ask in a new session, so that everything is read again."""
    pgs.sweep_llm = pgs.synthesis_llm = model
    return await pgs.execute(question, graph="papers", session_id=question, mode="full")


@pytest.mark.parametrize("usage", [Usage(calls=1, input_tokens=900, output_tokens=90), Usage()])
async def test_replies_of_a_model_without_a_signature_serve_their_run_alone(
    endpoint: Endpoint, db: Database, usage: Usage
) -> None:
    mapping = await papers(db, 2)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("papers", mapping)
        first, second = Own(usage=usage), Own(usage=usage)
        answers = [await ask(pgs, first), await ask(pgs, second)]
        assert [one.usage.cached for one in answers] == [0, 0]
        assert len(second.prompts) == len(first.prompts) > 2
        assert (await pgs.kept_replies()).replies == 0
        signed, again = OwnSigned(usage=usage), OwnSigned(usage=usage)
        answers = [await ask(pgs, signed), await ask(pgs, again)]
        assert answers[1].usage.cached == len(signed.prompts)
        assert again.prompts == []


async def test_an_unfinished_run_of_a_model_without_a_signature_pays_for_nothing_twice(
    endpoint: Endpoint, db: Database
) -> None:
    mapping = await papers(db, 2)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("papers", mapping)
        limited = Own(fault=ModelUnavailableError("gone"), task="synthesis")
        with pytest.raises(ModelUnavailableError, match="gone"):
            await ask(pgs, limited)
        (run,) = await pgs.runs("papers")
        rest = Own()
        pgs.sweep_llm = pgs.synthesis_llm = rest
        answer = await pgs.resume(run.id)
        assert answer.coverage.exhausted
        assert [prompt.task for prompt in rest.prompts] == ["synthesis"]


async def test_a_model_that_counts_too_few_tokens_was_not_given_its_prompt(
    endpoint: Endpoint, db: Database
) -> None:
    mapping = await papers(db, 2)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("papers", mapping)
        whole = Own(lambda prompt: estimate(prompt.system + prompt.user))
        assert (await ask(pgs, whole)).coverage.exhausted
        short = Own(lambda _: 10)
        with pytest.raises(AllSweepsFailedError) as failed:
            await ask(pgs, short, "How?")
        coverage = await pgs.sessions.coverage("How?", "papers")
        assert coverage.nodes_read == 0
        assert len(short.prompts) <= 2 * 2  # after one of them, the context is known
    assert "mine" in str(failed.value)


async def test_the_exception_of_a_model_is_the_cause_of_what_ends_a_run(
    endpoint: Endpoint, db: Database
) -> None:
    mapping = await papers(db, 2)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("papers", mapping)
        with pytest.raises(AllSweepsFailedError) as failed:
            await ask(pgs, Own(fault=ValueError("my server said no")))
    assert "failed with ValueError: my server said no" in str(failed.value)
    shown = "".join(traceback.format_exception(failed.value))
    assert "raise self.fault" in shown


HALVES = {
    "sweep_llm": "mine reads the partitions, and the extractive reader writes the answer",
    "synthesis_llm": "the extractive reader reads the partitions, which quotes sentences",
}


@pytest.mark.parametrize("given", HALVES)
async def test_a_model_for_half_of_a_run_leaves_the_other_to_the_extractive_reader_and_says_so(
    endpoint: Endpoint, db: Database, given: Any
) -> None:
    mapping = await papers(db, 2)
    own, lacking = Own(), {"sweep_llm", "synthesis_llm"} - {given}
    access: dict[str, Any] = {"neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user}
    access |= {"neo4j_password": endpoint.password, given: own}
    async with PGS.connect(**KNOBS | access) as pgs:
        await pgs.graphs.add("papers", mapping)
        answer = await pgs.execute("Why?", graph="papers")
        pgs.sweep_llm = pgs.synthesis_llm = own
        both = await pgs.execute("How?", graph="papers", session_id="both")
    (warning,) = [one for one in answer.warnings if "extractive" in one]
    assert warning.startswith(HALVES[given])
    assert f"; pass {lacking.pop()} as well" in warning
    assert not [one for one in both.warnings if "extractive" in one]
    tasks = {"synthesis"} if given == "synthesis_llm" else {"sweep"}
    assert {one.task for one in own.prompts if one.question == "Why?"} == tasks


class Short:
    """It says that its vectors are twice as long as they are."""

    name, dimensions, threshold = "short", 64, None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 32), dtype=np.float32) / np.float32(32**0.5)

    async def close(self) -> None: ...


SHORT = "embed of short returned 32 numbers a text, but its dimensions says 64"


async def test_vectors_of_another_length_end_a_build(endpoint: Endpoint, db: Database) -> None:
    mapping = await papers(db, 2)
    async with engine_on(endpoint, **KNOBS | {"embedder": Short()}) as pgs:
        await pgs.graphs.add("papers", mapping)
        with pytest.raises(ModelError, match=SHORT):
            await pgs.partitions.build("papers")


@pytest.mark.parametrize("free", [False, True])
async def test_vectors_of_another_length_are_not_stored_with_documents(
    endpoint: Endpoint, db: Database, free: bool
) -> None:
    embedder: Any = type("Given", (Short,), {"free": free})()
    note = DocumentSource(id="note.md", data="The moon is far. Marie Curie lived in Paris.")
    async with engine_on(endpoint, **KNOBS) as pgs:
        pgs.sweep_llm = ExtractiveLLM()
        done = await pgs.ingest([note], "notes", embed=embedder)
        assert done.embedded == 0
        assert SHORT in done.unembedded_why
