"""Prints the tests that failed in the last run of pytest, read from its cache folder.

``python -m tests.failed FOLDER`` prints one test per line, in order, and nothing if none failed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def read_failed(cache: Path) -> list[str]:
    """Return the ids of the tests that failed, sorted."""
    try:
        stored = json.loads((cache / "v/cache/lastfailed").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return sorted(stored)


if __name__ == "__main__":
    for name in read_failed(Path(sys.argv[1])):
        print(name)  # noqa: T201 - this is what the command is for
