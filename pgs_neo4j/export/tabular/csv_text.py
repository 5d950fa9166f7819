"""Writes a table as CSV that a spreadsheet shows and never executes.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, or ``@`` for a formula, which can
call programs and addresses, and texts come from a graph or a model. Such a text gets an apostrophe
before that character. Where semicolons or tabs separate cells, which depends on the language of
the spreadsheet, a cell also begins after one of those or after a line end within a text. So the
apostrophe stands there as well. :func:`restore_text` takes exactly these apostrophes away.
"""

from __future__ import annotations

import csv
import io
import json
import re

from pgs_neo4j.export.tabular.rows import columns_of
from pgs_neo4j.export.tabular.tables import Table, cell_values
from pgs_neo4j.text.shown import plain

BYTE_ORDER_MARK = "\ufeff"
"""Begins a file that spreadsheets shall read as UTF-8."""

# Full-width forms count as well: spreadsheets of East Asian languages take them for the same.
# Apostrophes that stand there already stay, so that theirs can be told from ours. Spaces and
# quotation marks are passed over, since a spreadsheet may strip them. No line end is: a cell may
# begin after it, and the search stays linear.
_BEGINS = r"(^|[;\t\n])"
_FORMULA = r"(?:\"|[^\S\t\n])*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_DANGEROUS = re.compile(rf"{_BEGINS}(?='*{_FORMULA})")
_PROTECTED = re.compile(rf"{_BEGINS}'(?='*{_FORMULA})")


def to_csv(table: Table) -> str:
    """Render a table as CSV, with a line of names above its rows.

    Lines end with a line feed. A list is a JSON array, an empty cell a missing value, and a truth
    value is ``true`` or ``false``. Texts have no invisible characters.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns_of(table.of)])
    for row in table.rows:
        writer.writerow([_cell(value) for value in cell_values(row)])
    return text.getvalue()


def restore_text(cell: str) -> str:
    """Return the text of a cell without the apostrophes that protect it."""
    return _PROTECTED.sub(r"\1", cell)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple():
            listed = [plain(item) if isinstance(item, str) else item for item in value]
            return _protected(json.dumps(listed, ensure_ascii=False))
        case _:
            return _protected(plain(str(value)))


def _protected(text: str) -> str:
    return _DANGEROUS.sub(r"\1'", text)
