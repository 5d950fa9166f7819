"""Writes the files that are made from code: knob types, pages of the manual, and JSON schemas.

Run ``python -m tests.tools.generate`` after a change of a setting, an event, a result, or a
request.
"""

from __future__ import annotations

from pathlib import Path

import pgs_neo4j
from pgs_neo4j.web.app import describe_openapi
from tests.tools.api_table import api_page
from tests.tools.event_table import events_page
from tests.tools.export_schemas import export_schemas, exports_page
from tests.tools.knob_types import knob_types
from tests.tools.results_page import results_page
from tests.tools.settings_page import settings_page

PACKAGE = Path(pgs_neo4j.__file__).parent


def generated() -> dict[Path, str]:
    """Return the text of each file, by its path."""
    manual = PACKAGE / "manual"
    return {
        PACKAGE / "config" / "knob_types.py": knob_types(),
        manual / "settings.md": settings_page(),
        manual / "events.md": events_page(),
        manual / "api.md": api_page(describe_openapi()),
        manual / "results.md": results_page(),
        manual / "exports.md": exports_page(),
        **{manual / "schemas" / f"{name}.json": one for name, one in export_schemas().items()},
    }


def main() -> None:
    """Write the files."""
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
