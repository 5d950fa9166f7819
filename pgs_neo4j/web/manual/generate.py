"""Generates the reference pages of the manual from code.

Run ``python -m pgs_neo4j.web.manual.generate`` after an event or a request has changed.
"""

from __future__ import annotations

from pathlib import Path

import pgs_neo4j.manual
from pgs_neo4j.web.app import described
from pgs_neo4j.web.manual.api_table import api_page
from pgs_neo4j.web.manual.event_table import events_page

EVENTS = Path(pgs_neo4j.manual.__file__).with_name("events.md")
API = EVENTS.with_name("api.md")


def main() -> None:
    """Write the pages."""
    EVENTS.write_text(events_page(), encoding="utf-8")
    API.write_text(api_page(described()), encoding="utf-8")


if __name__ == "__main__":
    main()
