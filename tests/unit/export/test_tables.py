"""Tables hold what the answer holds, read back as it was, and are no formulas to a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from pgs_neo4j.errors import UsageError
from pgs_neo4j.export import (
    Document,
    Table,
    answer_table,
    restore_text,
    runs_table,
    to_csv,
    to_parquet,
)
from pgs_neo4j.export.tabular.rows import ROWS, SourceRow, columns_of
from pgs_neo4j.model import Synthesis
from pgs_neo4j.text.shown import plain
from tests.unit.cli.test_cli_latest import info
from tests.unit.export.conftest import cited, make_answer, make_document

OF_ANSWERS = [name for name in ROWS if name != "runs"]
FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
PIECES = st.sampled_from([*FORMULAS, "'", '"', ";", ",", "\t", "\n", "\r", " ", "\u3000", "a", "1"])

SPLITS = (
    (",", csv.QUOTE_MINIMAL), (";", csv.QUOTE_MINIMAL), (";", csv.QUOTE_NONE),
    ("\t", csv.QUOTE_MINIMAL), ("\t", csv.QUOTE_NONE),
)  # fmt: skip
"""How spreadsheets split lines, by their language and by how a file is opened."""

PARSERS = {"integer": int, "number": float, "boolean": lambda cell: cell == "true"}


def stated(text: str) -> Document:
    """A document whose answer states a connection and a convergence."""
    answer = make_answer(text)
    synthesis = replace(
        answer.synthesis, connections=(f"P1 and P2 meet in {text} [P1:n2, P2:n3]",),
        convergences=(text,),
    )  # fmt: skip
    return make_document(text, answer=replace(answer, synthesis=synthesis))


def tables(document: Document) -> list[Table]:
    runs = [info("r9", question=document.answer.question), info("r8", cost=float("nan"))]
    return [*(answer_table(document, name) for name in OF_ANSWERS), runs_table(runs)]


def data(row: Any) -> dict[str, Any]:
    """A row with lists for tuples, as JSON and Parquet have them."""
    return {
        key: [*value] if isinstance(value, tuple) else None if value != value else value
        for key, value in asdict(row).items()
    }


def read_csv(table: Table, text: str) -> list[dict[str, Any]]:
    """Rows as the manual says that their cells are to be read."""

    def value(column: Any, cell: str) -> Any:
        if column.many:
            return json.loads(restore_text(cell))
        if cell == "" and column.optional:
            return None
        parse: dict[str, Any] = {
            "integer": int,
            "number": float,
            "boolean": lambda one: one == "true",
        }
        return parse.get(column.kind, restore_text)(cell)

    columns = {column.name: column for column in columns_of(table.of)}
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [{name: value(columns[name], cell) for name, cell in row.items()} for row in rows]


def shown(value: Any) -> Any:
    """A value as CSV has it: without invisible characters, and without a text if it is empty."""
    if isinstance(value, dict):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) if isinstance(one, str) else one for one in value]
    return plain(value) or None if isinstance(value, str) else value


def test_every_table_reads_back_from_csv(hostile: str) -> None:
    for said in (hostile, f"=1+1;@{hostile}", f"\n-{hostile}\n=2", f"'=x;{hostile}"):
        for table in tables(stated(said)):
            text = to_csv(table)
            assert text.encode("utf-8").decode("utf-8") == text
            got = [shown(row) for row in read_csv(table, text)]
            assert got == [shown(data(row)) for row in table.rows]


def test_every_table_reads_back_from_parquet_unchanged(hostile: str) -> None:
    for table in tables(stated(f"=1;{hostile}")):
        got = parquet.read_table(io.BytesIO(to_parquet(table)))
        expected = [data(row) for row in table.rows]
        if "\ud800" in hostile:
            expected = json.loads(json.dumps(expected).replace("\\ud800", "?"))
        assert got.to_pylist() == expected
        assert got.column_names == [column.name for column in columns_of(table.of)]


@pytest.mark.parametrize("name", ROWS)
def test_an_empty_table_has_the_columns_of_a_full_one(name: str) -> None:
    (full,) = (table for table in tables(stated("toys")) if table.name == name)
    assert full.rows
    empty = replace(full, rows=())
    assert to_csv(empty) == to_csv(full).partition("\n")[0] + "\n"
    read = [parquet.read_schema(io.BytesIO(to_parquet(table))) for table in (full, empty)]
    assert read[0] == read[1]


def source(text: str) -> Table:
    row = SourceRow(
        run="r1", citation="P1:n1", partition=1, key="k", title="t", labels=(text,), text=text,
        changed=False, gone=False,
    )  # fmt: skip
    return Table(name="sources", of=SourceRow, rows=(row,))


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_cell_is_a_formula_however_a_spreadsheet_splits_the_line(text: str) -> None:
    written = to_csv(source(text))
    (row,) = csv.DictReader(io.StringIO(written, newline=""))
    assert restore_text(row["text"]) == plain(text)
    assert json.loads(row["labels"])  # even before the apostrophes are taken away
    assert json.loads(restore_text(row["labels"])) == [plain(text)]
    for delimiter in (",", ";", "\t"):
        for quoted in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
            splits = delimiter != "," or quoted == csv.QUOTE_MINIMAL
            lines = csv.reader(
                io.StringIO(written, newline=""), delimiter=delimiter, quoting=quoted
            )
            cells = [cell.lstrip(' "\u3000') for line in lines for cell in line]
            assert not splits or not [cell for cell in cells if cell.startswith(FORMULAS)], text


def test_numbers_below_zero_stay_numbers() -> None:
    table = runs_table([info("r1", cost=-0.5)])
    assert ",-0.5," in to_csv(table)


def test_connections_have_their_partitions_and_citations() -> None:
    rows = [data(row) for row in answer_table(stated("toys"), "connections").rows]
    first = rows[0]
    assert (first["kind"], first["place"], first["partitions"]) == ("connection", 1, [1, 2])
    assert first["citations"] == ["P1:n2", "P2:n3"]
    kinds = [row["kind"] for row in rows]
    assert kinds == ["connection", "convergence", *["flag"] * 5, "neighbors", "words"]
    assert [row["absent"] for row in rows if row["absent"]] == ["nothing on toys"]


def test_findings_have_valid_and_invalid_citations_apart() -> None:
    rows = [data(row) for row in answer_table(make_document(), "findings").rows]
    assert [(row["partition"], row["place"]) for row in rows] == [
        (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)
    ]  # fmt: skip
    assert (rows[0]["citations"], rows[0]["nodes"]) == (["P1:n2"], ["doi/n2"])
    assert (rows[1]["invalid_citations"], rows[1]["supported"]) == (["P1:n77"], False)
    assert rows[2]["misquotes"] == ["never said toys"]
    assert {row["made_by"] for row in rows} == {"r1"}


def test_sources_are_named_as_findings_cite_them() -> None:
    document = make_document()
    named = {row["citation"] for row in map(data, answer_table(document, "sources").rows)}
    assert named == {"P1:n2", "P2:n3", "P1:n5"}
    gone = [row for row in map(data, answer_table(document, "sources").rows) if row["gone"]]
    assert [(row["citation"], row["text"]) for row in gone] == [("P1:n5", None)]


def test_an_unknown_table_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="its tables are findings, absences, connections"):
        answer_table(make_document(), "nodes")


def test_without_pyarrow_parquet_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pip install pyarrow, or export as CSV"):
        to_parquet(runs_table([]))


def test_an_answer_without_a_synthesis_has_empty_tables() -> None:
    answer = make_answer(sweeps=(), synthesis=Synthesis(text=""))
    document = Document(answer=answer, asked_at="2026-03-17T15:48:10+00:00")
    assert [len(answer_table(document, name).rows) for name in ("findings", "coverage")] == [0, 0]
    assert cited(1, "n2").valid
