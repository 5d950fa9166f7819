"""The page of an ingestion: what became of the documents, what it cost, and what is left to do."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.cli.pages import plan_page
from pgs_neo4j.cli.pages.ingested import (
    FIXES,
    MOST_NAMED,
    STATES,
    as_json,
    line,
    lines,
    notes,
)
from pgs_neo4j.model import PlannedCalls, Usage
from pgs_neo4j.model.ingest import (
    Deletion,
    DivisionForecast,
    DocumentOutcome,
    DocumentState,
    IngestPlan,
)
from pgs_neo4j.text.json_data import json_text
from tests.fakes.commands import ingested, on_one_line, outcomes

ALL: tuple[DocumentState, ...] = get_args(DocumentState)
PAID = Usage(calls=3, input_tokens=12_000, output_tokens=900)


def rows(*documents: DocumentOutcome, **changed: Any) -> dict[str, str]:
    """The lines by their labels."""
    told = lines(ingested(*documents, **changed), 200)
    return {line[:10].strip(): line[10:] for line in told}


def test_the_page_tells_what_happened_and_nothing_else() -> None:
    documents = (
        *outcomes("failed", 1), *outcomes("unchanged", 1200, chunks=1),
        *outcomes("added", 3, chunks=600, extracted=10),
    )  # fmt: skip
    assert rows(
        *documents, judged=3, joined=1, embedded=7, described=1, usage=PAID, cost=0.0125, job="j12",
        dropped={"not in the text": 1500, "end": 2}, skipped={".pdf": 3, "without ending": 1},
        stopped="max_calls 5 was reached",
    ) == {
        "Graph": "notes, label Notes",
        "Documents": "3 added, 1,200 unchanged, 1 failed",
        "Chunks": "3,000, 30 of them extracted now",
        "Dropped": "1,500 entities that are not in the text, 2 relations of such entities",
        "Described": "1 entity, each summarized from many chunks",
        "Judged": "3 pairs of close names, 1 of them one entity",
        "Embedded": "7 texts",
        "Skipped": "3 .pdf, 1 without ending",
        "Model": "3 calls, 12,000 tokens in, 900 out",
        "Cost": "0.0125",
        "Stopped": "max_calls 5 was reached",
        "Time": "0.5 s",
        "Job": "j12",
    }  # fmt: skip
    assert rows() == {
        "Graph": "notes, label Notes", "Documents": "none",
        "Chunks": "0, 0 of them extracted now", "Time": "0.5 s",
    }  # fmt: skip
    assert rows(usage=PAID, cost=0.0)["Cost"] == "0"
    assert "Cost" not in rows(usage=PAID, cost=None)
    assert not {"Cost", "Model"} & {*rows(cost=0.0)}
    used = Usage(calls=1, input_tokens=50, output_tokens=5, estimated=True)
    assert rows(usage=used)["Model"] == "1 call, about 50 tokens in, 5 out"


@pytest.mark.parametrize("width", [40, 80])
def test_lines_stay_within_the_terminal_and_count_every_state(width: int) -> None:
    documents = tuple(one for state in ALL for one in outcomes(state, 11))
    told = lines(
        ingested(
            *documents, usage=PAID, cost=1.5, skipped={f".e{n}": n for n in range(1, 30)},
            dropped={"not in the text": 12, "no sentence": 4, "end": 3},
            stopped="the limit max_cost of 1.50 was reached before all documents were extracted",
        ),
        width,
    )  # fmt: skip
    assert all(len(line) <= width for line in told)
    text = on_one_line(" ".join(told))
    words = dict(STATES)
    assert words.keys() == {*ALL}
    assert all(text.count(f"11 {word}") == 1 for word in words.values())
    assert "29 .e29" in text


@pytest.mark.parametrize("state", ALL)
def test_a_note_says_what_to_do_and_names_the_documents(state: DocumentState) -> None:
    told = [*notes(ingested(*outcomes("added", 2), *outcomes(state, 2, reason="it is not\nso")))]
    if state in FIXES:
        assert told == [f"{FIXES[state]}:", *(f"  {state}-0{n}.md: it is not so" for n in (0, 1))]
    else:
        assert bool(told) is (state == "elsewhere")


@pytest.mark.parametrize(
    ("count", "more"), [(10, []), (11, ["  and 1 more"]), (2010, ["  and 2,000 more"])]
)
def test_at_most_ten_documents_of_each_kind_are_named(count: int, more: list[str]) -> None:
    ids = [f"  stale-{n:02d}.md" for n in range(MOST_NAMED)]
    told = [*notes(ingested(*outcomes("missing", 2), *outcomes("stale", count)))]
    assert told[:-3] == [f"{FIXES['stale']}:", *ids, *more]
    assert told[-3] == f"{FIXES['missing']}:"
    guessed = [*notes(ingested(*outcomes("added", count, note="read as cp1252")))]
    assert guessed[0].endswith("something about them was guessed:")
    assert guessed[1] == "  added-00.md: read as cp1252"
    assert guessed[11:] == more


def test_documents_that_are_read_only_in_part_are_named_with_what_is_missing() -> None:
    done = ingested(*outcomes("unchanged", 1, unread=("page 2 is a picture", "it holds a\nfile")))
    assert [*notes(done)] == [
        "these were read only in part; the rest is not in the graph:",
        "  unchanged-00.md: page 2 is a picture; it holds a file",
    ]
    assert as_json(done)["partly_read"] == 1
    assert (done.complete, "1 read in part" in line(done)) == (True, True)


def test_documents_of_other_folders_are_counted_and_moved_ones_have_their_former_id() -> None:
    assert [*notes(ingested(*outcomes("elsewhere", 1)))] == [
        "1 document is outside the folders that were read and therefore left alone; 'pgs documents "
        "delete' deletes such documents"
    ]
    (many,) = notes(ingested(*outcomes("elsewhere", 1200)))
    assert many.startswith("1,200 documents are outside the folders")
    moved = DocumentOutcome(id="b.md", state="moved", former="a\n.md")
    assert [*notes(ingested(*outcomes("added", 1), moved))] == [
        "these moved with their files:", "  b.md: formerly a .md",
    ]  # fmt: skip
    assert as_json(ingested(moved))["outcomes"][0]["former"] == "a\n.md"


def test_names_and_texts_that_wait_for_a_model_are_told() -> None:
    done = ingested(
        unjudged=2, unjudged_why="the model is away",
        unjudged_places=("A\nB and C (Person)",), unembedded=2, unembedded_why="it is gone",
        undescribed=1, undescribed_why="too dear",
    )  # fmt: skip
    assert not done.complete
    assert [*notes(done)] == [
        "1 entity waits for a description (too dear); run the command again to get it",
        "2 pairs of close names wait for a judgment (the model is away); run the command again",
        "  A B and C (Person)",
        "2 texts have no vector (it is gone); run the command again with --embed to get it",
    ]
    assert ingested(unjudged=2).complete
    assert ingested(deletion=Deletion(sentences=3, scanned=9)).complete
    assert ingested(deletion=Deletion(short=2)).complete
    assert not ingested(deletion=Deletion(held=1)).complete


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_name_and_reason_is_one_line(name: str, reason: str) -> None:
    failed = DocumentOutcome(id=name, state="failed", reason=reason)
    done = ingested(failed, graph=name, label=name, stopped=reason)
    told = [*notes(done)]
    assert len(told) == 2 + done.failed  # the last says that the graph has no document
    shown = "".join([*told, *lines(done, 400)])
    assert not any(letter in shown for letter in "\n\r\x1b\x07\x9b\u2028\u202e")


def test_json_has_all_counts_and_every_document_as_it_is_called(hostile: str) -> None:
    documents = (
        DocumentOutcome(id=hostile, state="failed", reason="why"), *outcomes("added", 30),
    )  # fmt: skip
    data = json.loads(json_text(as_json(ingested(*documents, usage=PAID, cost=0.5))))
    assert data["counts"] == {state: {"added": 30, "failed": 1}.get(state, 0) for state in ALL}
    assert data["outcomes"][0] == {
        "id": hostile, "state": "failed", "chunks": 0, "extracted": 0, "reason": "why",
        "note": "", "former": "", "unread": [], "unproven": 0,
    }  # fmt: skip
    assert len(data["outcomes"]) == 31
    assert (data["usage"]["calls"], data["cost"], data["graph"]) == (3, 0.5, "notes")
    assert data["complete"] is False


def test_a_plan_tells_the_calls_that_divide_and_whose_price_is_missing() -> None:
    calls = PlannedCalls(calls=2, input_tokens=9_000)
    dividing = DivisionForecast(model="embedder-1", priced=False, calls=calls)
    plan = IngestPlan(graph="notes", label="Notes", model="m", outcomes=(), dividing=dividing)
    text = on_one_line(" ".join(plan_page.ingestion_lines(plan, [], 200)))
    assert "Dividing 2 calls" in text
    assert "by embedder-1; chunks are an estimate" in text
    assert '[models."embedder-1"]' in text
    none = IngestPlan(graph="notes", label="Notes", model="m", outcomes=())
    assert not any(line.startswith("Dividing") for line in plan_page.ingestion_lines(none, [], 200))
