"""The page of an ingestion: what became of the documents, what it cost, and what is left to do."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.cli.pages.documents import ingest_plan
from pgs_neo4j.cli.pages.documents.ingested import FIXES, MOST_NAMED, STATES, as_json, lines, notes
from pgs_neo4j.model import PlannedCalls, Usage
from pgs_neo4j.model.deletion import Deletion
from pgs_neo4j.model.ingest import (
    DivisionForecast,
    DocumentOutcome,
    DocumentState,
    Ingested,
    IngestPlan,
)
from pgs_neo4j.text.json_data import json_text

ALL: tuple[DocumentState, ...] = get_args(DocumentState)
PAID = Usage(calls=3, input_tokens=12_000, output_tokens=900)


def outcomes(state: DocumentState, count: int, **given: Any) -> tuple[DocumentOutcome, ...]:
    return tuple(
        DocumentOutcome(id=f"{state}-{n:02d}.md", state=state, **given) for n in range(count)
    )


def ingested(*documents: DocumentOutcome, **changed: Any) -> Ingested:
    given_: dict[str, Any] = {"graph": "notes", "label": "Notes", "seconds": 2.25}
    return Ingested(outcomes=documents, **given_ | changed)


def row(done: Ingested, label: str, width: int = 200) -> str | None:
    """The text beside a label; None if there is no such line."""
    found = [line for line in lines(done, width) if line.startswith(f"{label} ")]
    return found[0][len(label) :].strip() if found else None


def test_every_state_has_a_word() -> None:
    assert {state for state, _ in STATES} == set(ALL)
    assert len({word for _, word in STATES}) == len(ALL)


@pytest.mark.parametrize(("state", "word"), STATES)
def test_each_state_is_counted_by_its_word(state: DocumentState, word: str) -> None:
    assert row(ingested(*outcomes(state, 2)), "Documents") == f"2 {word}"


def test_states_stand_in_the_order_of_interest_and_empty_ones_are_left_out() -> None:
    documents = (*outcomes("failed", 1), *outcomes("unchanged", 1200), *outcomes("added", 3))
    assert row(ingested(*documents), "Documents") == "3 added, 1,200 unchanged, 1 failed"


def test_judged_names_are_counted_and_those_that_wait_are_told() -> None:
    done = ingested(judged=3, joined=1, unjudged=2, unjudged_why="the model is away")
    assert row(done, "Judged") == "3 pairs of close names, 1 of them one entity"
    assert not done.complete
    assert [*notes(done)] == [
        "2 pairs of close names wait for a judgment (the model is away); run the command again"
    ]
    assert ingested(unjudged=2).complete
    assert row(ingested(), "Judged") is None


def test_without_documents_it_says_none() -> None:
    assert row(ingested(), "Documents") == "none"
    assert row(ingested(), "Chunks") == "0, 0 of them extracted now"


def test_chunks_and_fresh_ones_are_summed() -> None:
    documents = (
        *outcomes("changed", 2, chunks=600, extracted=10),
        *outcomes("unchanged", 1, chunks=7),
    )
    assert row(ingested(*documents), "Chunks") == "1,207, 20 of them extracted now"


def test_what_was_dropped_and_skipped_is_told_with_its_reason() -> None:
    done = ingested(
        dropped={"not in the text": 1500, "end": 2}, skipped={".pdf": 3, "without ending": 1}
    )
    assert (
        row(done, "Dropped")
        == "1,500 entities that are not in the text, 2 relations of such entities"
    )
    assert row(done, "Skipped") == "3 .pdf, 1 without ending"


def test_what_did_not_happen_has_no_line() -> None:
    labels = [line.split()[0] for line in lines(ingested(*outcomes("added", 1)), 80)]
    assert labels == ["Graph", "Documents", "Chunks", "Time"]


def test_calls_tokens_and_cost_are_told() -> None:
    done = ingested(usage=PAID, cost=0.0125)
    assert row(done, "Model") == "3 calls, 12,000 tokens in, 900 out"
    assert row(done, "Cost") == "0.0125"


def test_estimated_tokens_are_told_as_such() -> None:
    used = Usage(calls=1, input_tokens=50, output_tokens=5, estimated=True)
    assert row(ingested(usage=used), "Model") == "1 call, about 50 tokens in, 5 out"


def test_an_unknown_price_has_no_cost_and_a_free_model_costs_0() -> None:
    assert row(ingested(usage=PAID, cost=None), "Cost") is None
    assert row(ingested(usage=PAID, cost=0.0), "Cost") == "0"


def test_without_calls_a_cost_of_nothing_is_not_told() -> None:
    assert row(ingested(cost=0.0), "Cost") is None
    assert row(ingested(cost=0.0), "Model") is None


def test_the_limit_that_ended_it_is_told() -> None:
    assert row(ingested(stopped="max_calls 5 was reached"), "Stopped") == "max_calls 5 was reached"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_lines_stay_within_the_terminal(width: int) -> None:
    documents = tuple(one for state in ALL for one in outcomes(state, 11, chunks=3))
    done = ingested(
        *documents,
        usage=PAID,
        cost=1.5,
        dropped={"not in the text": 12, "no sentence": 4, "end": 3},
        skipped={f".e{n}": n for n in range(1, 30)},
        stopped="the limit max_cost of 1.50 was reached before all documents were extracted",
    )
    told = lines(done, width)
    assert all(len(line) <= width for line in told)
    text = " ".join(" ".join(told).split())
    assert all(f"11 {word}" in text for _, word in STATES)
    assert "29 .e29" in text


def test_hostile_names_stay_on_their_line(hostile: str) -> None:
    done = ingested(graph=hostile, label=f"A\n{hostile}", stopped=f"x\n{hostile}")
    told = lines(done, 400)
    assert len(told) == 5
    assert told[0] == "Graph     [bold]red[/bold] 2Jtail, label A [bold]red[/bold] 2Jtail"


@pytest.mark.parametrize("state", sorted({*ALL} - {*FIXES, "elsewhere"}))
def test_documents_as_their_files_are_need_no_note(state: DocumentState) -> None:
    assert list(notes(ingested(*outcomes(state, 3)))) == []


@pytest.mark.parametrize(
    ("state", "told"), [("stale", "--refresh"), ("missing", "--sync"), ("failed", "not in the")]
)
def test_a_note_says_what_to_do_and_names_the_documents(state: DocumentState, told: str) -> None:
    head, *named = notes(ingested(*outcomes("added", 2), *outcomes(state, 2)))
    assert told in head
    assert head.endswith(":")
    assert named == [f"  {state}-00.md", f"  {state}-01.md"]


def test_documents_of_other_folders_are_counted_and_not_named() -> None:
    (one,) = notes(ingested(*outcomes("elsewhere", 1)))
    assert one == (
        "1 document is not of the folders that were read, and left alone; 'pgs documents delete' "
        "deletes such documents"
    )
    (many,) = notes(ingested(*outcomes("elsewhere", 1200)))
    assert many.startswith("1,200 documents are not of the folders")


def test_a_document_that_moved_is_told_with_its_former_id() -> None:
    moved = DocumentOutcome(id="b.md", state="moved", former="a\n.md")
    head, one = notes(ingested(*outcomes("added", 1), moved))
    assert (head, one) == ("these moved with their files:", "  b.md: formerly a .md")
    assert as_json(ingested(moved))["outcomes"][0]["former"] == "a\n.md"


def test_the_reason_of_a_failure_stands_beside_its_document() -> None:
    _, named = notes(ingested(*outcomes("failed", 1, reason="it is not\nUTF-8")))
    assert named == "  failed-00.md: it is not UTF-8"


@pytest.mark.parametrize(
    ("count", "more"), [(10, None), (11, "  and 1 more"), (2010, "  and 2,000 more")]
)
def test_at_most_ten_documents_of_a_kind_are_named(count: int, more: str | None) -> None:
    _, *named = notes(ingested(*outcomes("stale", count)))
    assert named[:MOST_NAMED] == [f"  stale-{n:02d}.md" for n in range(MOST_NAMED)]
    assert named[MOST_NAMED:] == ([more] if more else [])


def test_each_kind_has_its_own_note() -> None:
    documents = [one for state in FIXES for one in outcomes(state, 11)]
    told = list(notes(ingested(*documents)))
    assert [line for line in told if not line.startswith("  ")] == [
        f"{fix}:" for fix in FIXES.values()
    ]
    assert told.count("  and 1 more") == len(FIXES)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_name_and_reason_is_one_line(name: str, reason: str) -> None:
    done = ingested(DocumentOutcome(id=name, state="failed", reason=reason))
    told = list(notes(done))
    assert len(told) == 2
    assert not any(letter in told[1] for letter in "\n\r\x1b\x07\x9b\u2028\u202e")


def test_json_has_all_counts_and_whether_it_is_complete() -> None:
    data = as_json(ingested(*outcomes("added", 2), *outcomes("failed", 1, reason="why")))
    assert data["counts"] == {state: {"added": 2, "failed": 1}.get(state, 0) for state in ALL}
    assert data["complete"] is False
    assert data["outcomes"][2] == {
        "id": "failed-00.md", "state": "failed", "chunks": 0, "extracted": 0, "reason": "why",
        "note": "", "former": "",
    }  # fmt: skip


def test_json_names_every_document_as_it_is_called(hostile: str) -> None:
    documents = (DocumentOutcome(id=hostile, state="stale"), *outcomes("stale", 30))
    data = json.loads(json_text(as_json(ingested(*documents, usage=PAID, cost=0.5))))
    assert data["outcomes"][0]["id"] == hostile
    assert len(data["outcomes"]) == 31
    assert (data["usage"]["calls"], data["cost"], data["graph"]) == (3, 0.5, "notes")


@pytest.mark.parametrize(
    ("deletion", "complete"),
    [
        (Deletion(sentences=3, scanned=9), True),
        (Deletion(short=2), True),
        (Deletion(held=1), False),
    ],
)
def test_what_still_holds_deleted_text_leaves_an_ingestion_incomplete(
    deletion: Deletion, *, complete: bool
) -> None:
    assert ingested(*outcomes("deleted", 1), deletion=deletion).complete is complete


def test_a_plan_tells_the_calls_that_divide_and_whose_price_is_missing() -> None:
    calls = PlannedCalls(calls=2, input_tokens=9_000)
    dividing = DivisionForecast(model="embedder-1", priced=False, calls=calls)
    plan = IngestPlan(graph="notes", label="Notes", model="m", outcomes=(), dividing=dividing)
    text = " ".join(" ".join(ingest_plan.lines(plan, [], 200)).split())
    assert "Dividing 2 calls" in text
    assert "by embedder-1; chunks are an estimate" in text
    assert '[models."embedder-1"]' in text
    none = IngestPlan(graph="notes", label="Notes", model="m", outcomes=())
    assert not any(line.startswith("Dividing") for line in ingest_plan.lines(none, [], 200))
