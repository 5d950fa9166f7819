"""The JSON schemas of exports, and the page of the manual about the files."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from pgs_neo4j.export.json_shapes import SHAPES
from pgs_neo4j.export.tabular.rows import ROWS, Column, columns_of
from tests.tools.event_table import plain_doc, table

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WRITTEN_BY = {
    "run": "`pgs export` and `pgs show --json`",
    "document": "`GET /api/runs/{run}/answer.json`, and `to_json` in Python",
    "asked": "`pgs ask --json`",
}
INTRODUCTION = """\
# Exports

`pgs export` writes a whole answer as Markdown, HTML, or JSON, or a part of it as a table.
[Answers](answers.md) says what an answer holds.

```sh
pgs export --to answer.json
pgs export --table findings --to findings.csv
pgs export --table runs --graph papers --to runs.parquet
```

Over HTTP, `GET /api/runs/{run}/tables/{table}.csv` or `.parquet` returns a table of an answer, and
`GET /api/runs.csv` or `.parquet` returns the runs. In Python:

```python
import asyncio
from pathlib import Path

from pgs_neo4j import PGS
from pgs_neo4j.export import answer_table, to_csv, to_parquet


async def main() -> None:
    async with PGS.connect() as pgs:
        latest = await pgs.runs.latest("papers", answered=True)
        document = await pgs.runs.document(latest.id)
    Path("table.csv").write_text(to_csv(answer_table(document, "findings")), encoding="utf-8")
    Path("sources.parquet").write_bytes(to_parquet(answer_table(document, "sources")))


asyncio.run(main())
```

## CSV

Files are in UTF-8, with commas between cells, and a line feed at the end of each line. A file
begins with a byte order mark, so that spreadsheets read it as UTF-8; stdout and `to_csv` have none.
A list is a JSON array. Missing values are empty, and booleans are `true` or `false`. Invisible
characters are removed from texts.

A spreadsheet takes a cell that begins with `=`, `+`, `-`, or `@` for a formula. So an apostrophe is
written before these characters at the beginning of a text from the graph or the model. The same is
done after a semicolon, a tab, or a line end in the text, because some spreadsheets begin a new cell
there. Numbers get no apostrophe. `pgs_neo4j.export.restore_text` removes these apostrophes.

## Parquet

Parquet keeps every text unchanged, and lists as lists. It needs pyarrow, which is installed with
the client of Graph Data Science.

## Tables

Citations such as `P4:n12` are the same in all tables of an answer.
"""
OF_JSON = """
## JSON

Names never change, but new names may be added. Numbers that JSON cannot express are null. Each
document has a JSON schema in the package, in `pgs_neo4j/manual/schemas/`;
`pgs_neo4j.manual.read_schema` reads it. `pgs export --schema` prints the schema of `run`, and with
`--table` the schema of a row. A row is an object with the columns as names, as pandas, DuckDB, and
other programs return it from Parquet.

"""


class _AllFieldsWritten(GenerateJsonSchema):
    """Requires all fields, because documents are written with all of them, even defaults."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field["type"] != "typed-dict-field" or super().field_is_required(field, total)


def export_schemas() -> dict[str, str]:
    """Return the schemas as JSON text, by name: those of documents and those of rows."""
    documents = {name: _schema(name, shape) for name, shape in SHAPES.items()}
    rows = {name: _schema(name, row) for name, row in ROWS.items()}
    return {name: json.dumps(one, indent=1) + "\n" for name, one in (documents | rows).items()}


def _schema(name: str, shape: Any) -> dict[str, Any]:
    made = TypeAdapter(shape).json_schema(
        mode="serialization", schema_generator=_AllFieldsWritten, ref_template="#/$defs/{model}"
    )
    return {"$schema": DIALECT, "$id": f"urn:pgs_neo4j:export:{name}", **_plain(made)}


def _plain(schema: Any) -> Any:
    """Return a schema with each description on one line, and without titles of fields."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: " ".join(value.replace("``", "`").split()) if key == "description" else _plain(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


def exports_page() -> str:
    """Return the page of exports, with the columns of every table."""
    tables = (_table(name, row) for name, row in ROWS.items())
    documents = table(
        ("schema", "document", "written by"),
        (
            (f"`{name}`", plain_doc(one).partition("\n")[0], WRITTEN_BY[name])
            for name, one in SHAPES.items()
        ),
    )
    return "".join((INTRODUCTION, *tables, OF_JSON, documents.lstrip("\n")))


def _table(name: str, row: Any) -> str:
    columns = ((f"`{one.name}`", _words(one)) for one in columns_of(row))
    return f"\n### {name}\n\n{plain_doc(row)}\n{table(('column', 'cells'), columns)}"


def _words(column: Column) -> str:
    kind = f"list of {column.kind}s" if column.many else column.kind
    return f"{kind}, or empty" if column.optional else kind
