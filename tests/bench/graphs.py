"""Loads graphs of the shared folder as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.documents.loading.brain import read_brain
from pgs_neo4j.errors import InputFileError, UsageError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
BRAIN = "physics2"
NAMES = ("kc_facebook", BRAIN, "sbm_1e5", "lfr_1e5", "lfr_1e6")


@dataclass(frozen=True, slots=True, eq=False)
class BenchGraph:
    """Nodes ``0 .. n-1``, relationships ``(m,)`` with weights, and who belongs together.

    ``truth`` ``(n,)`` is the planted community of each node, None if unknown. ``texts`` are those
    of the nodes in order, some at a time, None for nodes without a text.
    """

    name: str
    node_count: int
    source: IntArray
    target: IntArray
    weight: FloatArray
    truth: IntArray | None = None
    texts: Iterable[list[str]] | None = None

    @property
    def edge_count(self) -> int:
        """How many relationships there are."""
        return self.source.size


def check_name(name: str) -> None:
    """Raise UsageError, which lists the graphs there are, for another name."""
    if name not in NAMES:
        raise UsageError(f"there is no graph {name!r} to measure; choose {', '.join(NAMES)}")


def named(name: str, folder: Path = DATA) -> BenchGraph:
    """A graph of the shared folder.

    Raises UsageError for a name that is not one of NAMES, InputFileError where its files are
    absent.
    """
    check_name(name)
    if not folder.is_dir():
        raise InputFileError(
            f"the folder {folder} is not there, and {name} is one of its files; put the shared "
            "data beside this checkout, or measure a generated graph with --files N E"
        )
    try:
        return _brain(name, folder) if name == BRAIN else _parquet(name, folder)
    except FileNotFoundError as error:
        raise InputFileError(f"{error.filename} is not there; {name} needs it") from error


def _brain(name: str, folder: Path) -> BenchGraph:
    file = read_brain(folder / f"{name}.json.gz")
    links = file.relationships
    weights = [1.0 if link.weight is None else link.weight for link in links]
    return BenchGraph(
        name,
        len(file.nodes),
        np.array([link.source for link in links], dtype=np.int64),
        np.array([link.target for link in links], dtype=np.int64),
        np.array(weights, dtype=np.float64),
    )


def _parquet(name: str, folder: Path) -> BenchGraph:
    # Imported here: it takes a second, and a generated graph does without.
    from pyarrow import parquet

    nodes = parquet.read_table(folder / f"{name}.nodes.parquet")
    edges = parquet.read_table(folder / f"{name}.edges.parquet")
    ids = nodes["id"].to_numpy().astype(np.int64)
    if not np.array_equal(ids, np.arange(ids.size)):
        raise InputFileError(f"the nodes of {name} are not numbered from 0 in order")
    return BenchGraph(
        name,
        ids.size,
        edges["src"].to_numpy().astype(np.int64),
        edges["dst"].to_numpy().astype(np.int64),
        edges["weight"].to_numpy().astype(np.float64),
        nodes["label"].to_numpy().astype(np.int64),
    )
