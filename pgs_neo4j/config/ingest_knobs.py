"""The knobs of ingestion, which are part of those of the method."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pgs_neo4j.config.declaration import About
from pgs_neo4j.config.sources import Sourced
from pgs_neo4j.model.ingest import Gleaning


class IngestKnobs(Sourced):
    """How documents are divided, and how a model is asked about them."""

    chunk_strategy: Annotated[
        Literal["content", "sentence", "token", "semantic"],
        About("ingestion"),
        Field(
            description="where chunks end: content (unmoved by distant edits), sentence, token, or "
            "semantic (where sentences differ most)"
        ),
    ] = "content"
    chunk_tokens: Annotated[
        int,
        About("ingestion"),
        Field(ge=50, le=20_000, description="tokens of a chunk; at most 600 above 100 KB of text"),
    ] = 1200
    chunk_overlap: Annotated[
        int,
        About("ingestion"),
        Field(ge=0, le=5_000, description="tokens of the text before a chunk shown with it"),
    ] = 100
    gleaning: Annotated[
        Gleaning,
        About("ingestion"),
        Field(description="rounds for names that a model missed: 0 to 3, or auto (where needed)"),
    ] = "auto"
    max_document_mb: Annotated[
        float,
        About("ingestion", metavar="MB"),
        Field(
            gt=0,
            le=1000,
            allow_inf_nan=False,
            description=(
                "maximum size of a document, and of a record of a file, in MB; a record also has "
                "at most 40 million characters"
            ),
        ),
    ] = 100.0
