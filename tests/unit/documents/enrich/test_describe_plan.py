"""A plan says which descriptions an ingestion would buy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.documents.enrich import describe as describe_plan
from pgs_neo4j.documents.enrich.describe import ROOMS, ModelDescriber
from pgs_neo4j.documents.fold.tallies import MOST_FRAGMENTS
from pgs_neo4j.documents.order import Describer
from pgs_neo4j.documents.plan import plan_ingest
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model.ingest import DescriptionForecast, IngestPlan
from tests.fakes.database import Row
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import Documents, ingestion
from tests.unit.documents.extract.test_model import Kept

LLM = ScriptedLLM(lambda prompt: "Nobody asks.")
PRICES = {LLM.name: ModelEntry(input_price=1.0, output_price=10.0)}
SAID = [f"Paris has bridge number {n}." for n in range(12)]


def describer(replies: Kept | None = None) -> ModelDescriber:
    return ModelDescriber(LLM, Calls.of(PGSConfig(), {}), replies or Kept())


async def planned(
    folder: Path, answers: Mapping[str, object] = {}, made: Describer | None = None
) -> IngestPlan:
    documents = Documents()
    documents.database.answers |= answers
    order, tools = ingestion(
        documents, WordExtractor(), folder, models=PRICES, describer=made or describer()
    )
    return await plan_ingest(order, tools, LLM)


async def forecast(folder: Path, answers: Mapping[str, object] = {}, **given: Any) -> Any:
    """What a plan says of descriptions."""
    return (await planned(folder, answers, **given)).describing


def write(folder: Path, *texts: str) -> None:
    for number, text in enumerate(texts):
        (folder / f"{number:02}.md").write_text(text)


def stored(**mentions: int) -> dict[str, object]:
    """What a graph says of the names that it has."""

    def count(sent: Row) -> list[Row]:
        known = [key for key in sent["keys"] if key in mentions]
        rows = [{"key": key, "entity": f"entity:x:{key}"} for key in known]
        return [{"names": [{**row, "mentions": mentions[row["key"]]} for row in rows]}]

    return {"count_mentions": count}


def waiting(name: str) -> dict[str, object]:
    """What a graph says of an entity that waits for its description."""
    row: Row = {
        "id": f"entity:x:{name.upper()}", "name": name, "type": "Location", "fragments": SAID,
    }  # fmt: skip
    return {"read_undescribed": lambda sent: [] if sent["after"] else [row]}


@pytest.mark.parametrize("most_names", [describe_plan.MOST_NAMES, 5])
async def test_a_name_of_many_chunks_is_likely_to_be_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_names: int
) -> None:
    """Of too many names, those of several chunks are kept."""
    monkeypatch.setattr(describe_plan, "MOST_NAMES", most_names)
    write(tmp_path, *(f"It is day {n}, and Marie Curie met Otto Hahn{n}." for n in range(8)))
    asked: list[str] = []

    def count(sent: Row) -> list[Row]:
        asked.extend(sent["keys"])
        return []

    told = await forecast(tmp_path, {"count_mentions": count})
    assert (told.calls.calls, told.more.calls, told.more.output_most) == (0, 1, ROOMS[0])
    assert (asked == ["MARIE_CURIE"]) is (most_names == 5)
    (tmp_path / "00.md").unlink()
    assert await forecast(tmp_path) == DescriptionForecast()


async def test_what_the_graph_says_of_a_name_counts_as_well(tmp_path: Path) -> None:
    write(tmp_path, "It is so, and Marie Curie met Otto Hahn.")
    few, told, many = [
        await forecast(tmp_path, stored(MARIE_CURIE=mentions)) for mentions in (6, 7, 900)
    ]
    assert (few, told.more.calls, many.more.calls) == (DescriptionForecast(), 1, 1)
    assert told.more.input_tokens < many.more.input_tokens < 40 * MOST_FRAGMENTS


async def test_entities_that_wait_are_planned_once_and_without_what_is_kept(
    tmp_path: Path,
) -> None:
    write(tmp_path, "It is so, and Paris has bridges.")
    answers = stored(PARIS=900) | waiting("Paris")
    replies = Kept()
    told = await forecast(tmp_path, answers, made=describer(replies))
    assert (told.calls.calls, told.more.calls) == (1, 0)
    bought = replace(describer(replies), llm=ScriptedLLM(lambda prompt: "Paris has bridges."))
    await bought.describe("Paris", "Location", SAID)
    assert await forecast(tmp_path, answers, made=bought) == DescriptionForecast()


async def test_descriptions_of_descriptions_are_counted() -> None:
    long = [f"{n} {'Paris has many bridges. ' * 60}" for n in range(40)]
    llm = ScriptedLLM(lambda prompt: "Paris has many bridges.")
    made = replace(describer(), llm=llm)
    told = await made.forecast("Paris", "Location", long)
    await made.describe("Paris", "Location", long)
    assert told.calls == len(llm.prompts) > 1


async def test_what_waits_is_in_the_least_cost_and_what_is_likely_in_the_most(
    tmp_path: Path,
) -> None:
    write(tmp_path, "It is so, and Paris has bridges.")
    bare, likely, sure = [
        await planned(tmp_path, answers) for answers in ({}, stored(PARIS=900), waiting("Rome"))
    ]
    assert bare.low == likely.low != sure.low
    for one in (likely, sure):
        assert (one.high or 0) > (bare.high or 0) > 0
        assert one.seconds > bare.seconds


async def test_nothing_is_known_of_a_describer_of_ones_own(tmp_path: Path) -> None:
    class Own:
        signature = "own"

        async def describe(self, name: str, kind: str, fragments: object) -> str:
            raise AssertionError("a plan asks nobody")

    write(tmp_path, "It is so, and Paris has bridges.")
    assert await forecast(tmp_path, made=Own()) is None
