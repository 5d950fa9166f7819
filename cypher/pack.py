"""Packs the statements into one file of the wheel: a ZIP archive that is not compressed.

Three hundred small files would take a tenth of the wheel, and more than a megabyte on disk. The
archive can be read with any program for text, and the wheel compresses it as one piece.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MADE = (1980, 1, 1, 0, 0, 0)  # the same for every build
PLAIN_FILE = 0o100644 << 16
UNIX = 3


class StatementPacker(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the archive to a wheel; an editable one reads the folder."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the archive beside the build, and include it."""
        if version == "editable":
            return
        self._place = tempfile.TemporaryDirectory()
        archive = Path(self._place.name, "_cypher.zip")
        pack(Path(self.root, "cypher"), archive)
        build_data["force_include"][str(archive)] = "pgs_neo4j/_cypher.zip"

    def finalize(self, version: str, *_: object) -> None:
        """Remove the archive."""
        if version != "editable":
            self._place.cleanup()


def pack(folder: Path, archive: Path) -> None:
    """Write all statements of a folder, by name, the same bytes each time."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(folder.rglob("*.cypher")):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), MADE)
            entry.create_system, entry.external_attr = UNIX, PLAIN_FILE
            packed.writestr(entry, path.read_bytes())
