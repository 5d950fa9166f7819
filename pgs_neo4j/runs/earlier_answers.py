"""Answers of earlier releases, which stored the synthesis as Markdown only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pgs_neo4j.model import Citation, Synthesis
from pgs_neo4j.runs.details import Details
from pgs_neo4j.runs.verdicts import Name
from pgs_neo4j.synthesis.prompt import parse_synthesis


def parsed_synthesis(text: str, details: Details, cited: Mapping[Name, Citation]) -> Synthesis:
    """Parse the stored Markdown of a synthesis.

    ``cited`` are the cited nodes that are still in the graph. They decide which citations are
    valid where the first releases stored no verdicts.
    """
    synthesis = parse_synthesis(text, cited)
    if details.citations is not None:
        synthesis = replace(synthesis, citations=details.citations)
    return replace(synthesis, complete=details.complete, reductions=details.reductions)
