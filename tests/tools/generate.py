"""Writes the files that are made from code: the types of knobs, and reference pages of the manual.

Run ``python -m tests.tools.generate`` after a setting, an event, or a request has changed.
"""

from __future__ import annotations

from pathlib import Path

import pgs_neo4j
from pgs_neo4j.web.app import described
from tests.tools.api_table import api_page
from tests.tools.event_table import events_page
from tests.tools.knob_types import knob_types
from tests.tools.results_page import results_page
from tests.tools.settings_page import settings_page

PACKAGE = Path(pgs_neo4j.__file__).parent


def generated() -> dict[Path, str]:
    """The text of each file, by its path."""
    manual = PACKAGE / "manual"
    return {
        PACKAGE / "config" / "knob_types.py": knob_types(),
        manual / "settings.md": settings_page(),
        manual / "events.md": events_page(),
        manual / "api.md": api_page(described()),
        manual / "results.md": results_page(),
    }


def main() -> None:
    """Write the files."""
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
