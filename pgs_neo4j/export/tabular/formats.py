"""Writes a table as a Parquet file, or as CSV that a spreadsheet shows and never executes.

A spreadsheet treats a cell that begins with ``=``, ``+``, ``-``, or ``@`` as a formula, which can
run programs and open addresses. Our texts come from a graph or a model and cannot be trusted. So a
text that begins with one of these characters gets an apostrophe before it. In some languages, a
spreadsheet separates cells by semicolons or tabs. There, a cell may also begin after one of these
separators, or after a line end within a text, so these places also get an apostrophe.
:func:`restore_text` removes exactly these apostrophes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from pgs_neo4j.errors import UsageError
from pgs_neo4j.export.tabular.rows import Column, columns_of
from pgs_neo4j.export.tabular.tables import Table, cell_values
from pgs_neo4j.text.shown import plain

BYTE_ORDER_MARK = "\ufeff"
"""At the start of a file, this makes spreadsheets read the file as UTF-8."""

# Full-width signs count, because spreadsheets in East Asian languages treat them like plain signs.
# Apostrophes of the text itself stay and ours are added before them, so that ``restore_text``
# removes only ours. The pattern skips spaces and quotation marks, since a spreadsheet may remove
# them. It does not skip line ends, because a cell may begin after a line end. This also keeps the
# search linear.
_BEGINS = r"(^|[;\t\n])"
_FORMULA = r"(?:\"|[^\S\t\n])*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_DANGEROUS = re.compile(rf"{_BEGINS}(?='*{_FORMULA})")
_PROTECTED = re.compile(rf"{_BEGINS}'(?='*{_FORMULA})")


def to_csv(table: Table) -> str:
    """Render a table as CSV with a header row of column names.

    Lines end with a line feed. A list becomes a JSON array, a missing value becomes an empty cell,
    and a truth value becomes ``true`` or ``false``. Invisible characters are removed from texts.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns_of(table.of)])
    for row in table.rows:
        writer.writerow([_format_cell(value) for value in cell_values(row)])
    return text.getvalue()


def restore_text(cell: str) -> str:
    """Remove from the text of a cell the apostrophes that protect it."""
    return _PROTECTED.sub(r"\1", cell)


def _format_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple():
            items = [plain(item) if isinstance(item, str) else item for item in value]
            return _protect(json.dumps(items, ensure_ascii=False))
        case _:
            return _protect(plain(str(value)))


def _protect(text: str) -> str:
    return _DANGEROUS.sub(r"\1'", text)


def to_parquet(table: Table) -> bytes:
    """Return a table as the bytes of a Parquet file. Lists stay lists, and texts stay unchanged.

    Only lone surrogates become question marks, since UTF-8 cannot encode them. Raises UsageError
    without pyarrow.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        raise UsageError(
            "Parquet needs pyarrow, which is not installed; pip install pyarrow, or export as CSV"
        ) from None
    columns = columns_of(table.of)
    schema = pa.schema(
        [
            pa.field(column.name, _choose_type(pa, column), nullable=column.optional)
            for column in columns
        ]
    )
    rows = [
        {column.name: _make_storable(value) for column, value in zip(columns, values, strict=True)}
        for values in map(cell_values, table.rows)
    ]
    file = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return bytes(file.getvalue().to_pybytes())


def _choose_type(pa: Any, column: Column) -> Any:
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
    }
    kind = types[column.kind]
    return pa.list_(pa.field("element", kind, nullable=False)) if column.many else kind


def _make_storable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return [_make_storable(item) for item in value] if isinstance(value, tuple) else value
