"""An answer from a search in every exported form: what was shown, cited, checked, and doubted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.export import to_html, to_json, to_markdown, to_notebook, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.model import (
    AbsenceStatus,
    CheckedAbsence,
    Citation,
    Coverage,
    Crosscheck,
    Finding,
    Quote,
    Routing,
    Shown,
    Stated,
    Synthesis,
)
from tests.unit.export.conftest import Page, assert_inert, make_answer

NODE = Citation(alias="n1", partition=0, node="doi/1", title="Tea trade", rank=0)
SHIPS = Citation(alias="t1", partition=0, title="Tea --[SHIPS]--> Port")
INVENTED = Citation(alias="n9", partition=0, valid=False)
TEXT = "## Answer\n\nIt was early [n1], says [n9], and it ships [t1].\n\n## Not found\n\n- unicorns"
NONE = Coverage(partitions_swept=0, partitions_total=4, nodes_read=0, nodes_total=10_807)


def absence(status: AbsenceStatus) -> CheckedAbsence:
    return CheckedAbsence(
        text="unicorns", reported=(Stated(0, 0, "unicorns"),), status=status,
        terms=("unicorns",), searched=10_807, texts=10_807, method="scan of every node",
    )  # fmt: skip


def searched(said: str = "toys", **changed: Any) -> Document:
    """A document of an answer that showed one node and one relationship of 10,807."""
    claims = (
        Finding(text="“early it was” [n1]", citations=(NODE,), quotes=(Quote("early", False),)),
        Finding(text="Nobody knows [n9]", citations=(INVENTED,)),
    )
    given: dict[str, Any] = {
        "mode": "hybrid", "sweeps": (), "coverage": NONE, "own_coverage": NONE, "stopped": "",
        "warnings": (), "routing": Routing(routes=(), considered=4), "run": "r1",
        "synthesis": Synthesis(
            text=TEXT.replace("early", f"early {said}"), thesis="It was early [n1].",
            citations=(NODE, INVENTED, SHIPS), judged=True,
        ),
        "crosscheck": Crosscheck(absences=(absence(AbsenceStatus.CONFIRMED),)),
        "shown": Shown(
            nodes=(NODE,), relationships=(SHIPS,), nodes_total=10_807, tokens=90, findings=claims
        ),
    }  # fmt: skip
    source = SourceNode(partition=0, alias="n1", key="doi/1", title="Tea trade", text=f"Tea {said}")
    return Document(
        answer=make_answer(said, **given | changed), areas=(), sources=(source,),
        asked_at="2026-03-17T15:48:10+00:00",
    )  # fmt: skip


DOCUMENT = searched()


def test_markdown_lists_sources_and_what_was_shown() -> None:
    text = to_markdown(DOCUMENT)
    assert "- n1  Tea trade (doi/1)" in text
    assert "- t1  Tea --&#91;SHIPS&#93;--> Port" in text
    assert f"- n9  ({wording.NOT_SHOWN})" in text
    assert "1 of 10,807 nodes and 1 relationship shown; none of them counts as read" in text
    assert "| unicorns | the answer | confirmed" in text
    assert "P0" not in text
    assert "## Partitions" not in text


def test_the_first_screen_has_the_answer_and_what_is_in_doubt() -> None:
    page = Page(to_html(DOCUMENT))
    assert_inert(page)
    (lead,) = page.having("div", "lead")
    assert "It was early" in lead.text
    (facts,) = page.having("div", "facts")
    assert "What was shown" in facts.text
    assert "1 of 10,807 nodes and 1 relationship shown" in facts.text
    assert "1 of 2 findings unsupported, 1 misquote, 1 invalid citation" in facts.text
    assert not page.having("svg")


def test_a_citation_opens_what_the_prompt_showed() -> None:
    page = Page(to_html(DOCUMENT))
    buttons = [one for one in page.having("button") if "popovertarget" in one.attributes]
    targets = {one.attributes["popovertarget"] for one in buttons}
    assert targets
    assert all(page.ids[target or ""] == 1 for target in targets)
    assert any("Tea toys" in one.text for one in page.having("div"))
    assert [one.text for one in page.having("s", "invalid")] == ["n9", "n9"]


def test_json_has_everything_that_was_shown() -> None:
    shown = json.loads(to_json(DOCUMENT))["shown"]
    assert [one["title"] for one in shown["nodes"]] == ["Tea trade"]
    assert [one["alias"] for one in shown["relationships"]] == ["t1"]
    assert (shown["nodes_total"], shown["tokens"]) == (10_807, 90)
    assert [one["supported"] for one in shown["findings"]] == [True, False]


def test_a_notebook_cell_marks_what_was_invented() -> None:
    cell = to_notebook(DOCUMENT.answer)
    assert wording.NOT_SHOWN.capitalize() in cell
    assert "Tea trade" in cell


@pytest.mark.parametrize("status", list(AbsenceStatus))
def test_every_check_is_told_without_a_partition(status: AbsenceStatus) -> None:
    checked = Crosscheck(absences=(absence(status),))
    document = searched(crosscheck=checked)
    assert f"| {status}: " in to_markdown(document)
    assert "P0" not in to_markdown(document) + to_html(document)
    assert wording.absence_line(absence(status)).startswith("“unicorns”: reported missing by the")


def test_hostile_text_is_inert_in_every_form(hostile: str) -> None:
    document = searched(said=hostile)
    assert_inert(Page(to_html(document)))
    assert json.loads(to_json(document))["shown"]["tokens"] == 90
    assert "<script" not in to_notebook(document.answer).lower()
