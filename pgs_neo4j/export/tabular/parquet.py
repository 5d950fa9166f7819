"""Writes a table as a Parquet file with pyarrow, which the GDS client depends on."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.errors import UsageError
from pgs_neo4j.export.tabular.rows import Column, columns_of
from pgs_neo4j.export.tabular.tables import Table, cell_values


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
