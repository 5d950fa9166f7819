"""Declares the knobs of the method and of ingestion: the nine published parameters, and others."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pgs_neo4j.config.declaration import About, NoneAllowed, declarations
from pgs_neo4j.config.provenance import Sourced
from pgs_neo4j.model import Effort
from pgs_neo4j.model.ingest import Gleaning

Algorithm = Literal["leiden-louvain", "leiden", "louvain"]
RouteBy = Literal["evidence", "centroids"]

# This value was measured with centered routing on 800 questions, each the first sentence of a node.
# On the standard library (60 partitions), it keeps the node's own partition for 74 % of the
# questions, and 9 % of all partitions; without centering, it keeps 98 % and 86 %. On physics2 (one
# subject, 12 partitions), the shares are 64 % and 29 %. The node's own partition is among the best
# 15 for 89 % of the questions on the standard library, and for 100 % on physics2.
HASHING_THRESHOLD = 0.1
"""The relevance threshold of the hashing embedder, unless one is set."""


class PGSConfig(Sourced):
    """The knobs of the method. Each field declares everything about its knob."""

    # These knobs control how documents are divided, and how a model extracts from them.
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

    min_community_size: Annotated[
        int,
        About("partitioning"),
        Field(ge=1, description="merge communities with fewer nodes than this"),
    ] = 30
    target_partition_max: Annotated[
        int,
        About("partitioning"),
        Field(ge=2, description="split partitions with more nodes than this"),
    ] = 1800
    max_partition_tokens: Annotated[
        int,
        About("partitioning"),
        Field(ge=1000, description="split partitions with more tokens of text than this"),
    ] = 100_000
    algorithm: Annotated[
        Algorithm,
        About("partitioning"),
        Field(description="community detection in GDS: leiden-louvain, leiden, or louvain"),
    ] = "leiden-louvain"
    random_seed: Annotated[
        int, About("partitioning"), Field(ge=0, description="random seed of community detection")
    ] = 42
    gds_concurrency: Annotated[
        int,
        About("partitioning"),
        Field(ge=1, le=64, description="GDS threads; more than 1 is not reproducible"),
    ] = 1
    seed_drift: Annotated[
        float,
        About("partitioning"),
        Field(
            ge=0.0,
            le=1.0,
            description="share of the graph that may change before it is repartitioned from "
            "scratch; 0: always from scratch",
        ),
    ] = 0.2
    centroid: Annotated[
        Literal["mean", "weighted"],
        About("partitioning"),
        Field(description="mean: all nodes count alike in centroids; weighted: by their weight"),
    ] = "mean"
    keep_generations: Annotated[
        int,
        About("partitioning", flag="--keep"),
        Field(
            ge=1,
            description="generations to keep per graph; those a session still uses always stay",
        ),
    ] = 3

    route_by: Annotated[
        RouteBy,
        About("routing", shapes=True),
        Field(
            description="evidence: the partitions of the nodes that match the question; "
            "centroids: by mean vectors, as published"
        ),
    ] = "evidence"
    max_sweep_partitions: Annotated[
        int,
        About("routing", shapes=True),
        Field(ge=1, description="maximum partitions to sweep per question"),
    ] = 15
    min_sweep_partitions: Annotated[
        int,
        About("routing", shapes=True),
        Field(
            ge=0,
            description="minimum partitions to sweep per question; 0: relevance decides",
        ),
    ] = 0
    partition_relevance_threshold: Annotated[
        float,
        About("routing", flag="--threshold", shapes=True),
        Field(
            ge=-1.0,
            le=1.0,
            description="minimum cosine similarity of a relevant partition; unless set, 0.1 with "
            "the hashing embedder",
        ),
    ] = 0.25
    sweep_fraction: Annotated[
        float | None,
        About("routing", shapes=True),
        Field(
            ge=0.1,
            le=1.0,
            description="share of the relevant partitions to sweep, instead of the maximum",
        ),
        NoneAllowed,
    ] = None
    max_flag_sweeps: Annotated[
        int,
        About("routing", shapes=True),
        Field(ge=0, description="maximum flagged partitions to sweep in a second wave"),
    ] = 3

    sweep_max_tokens: Annotated[
        int,
        About("sweeping", shapes=True),
        Field(
            ge=64,
            description="maximum tokens of a sweep report; a report that is cut off is "
            "requested again with more room",
        ),
    ] = 6000
    sweep_effort: Annotated[
        Effort | None,
        About("sweeping", shapes=True),
        Field(description="reasoning effort of sweeps; none: the model's default"),
        NoneAllowed,
    ] = None
    max_pass_characters: Annotated[
        int,
        About("sweeping", shapes=True),
        Field(
            ge=6000, description="maximum characters of one prompt, for sweeps and the synthesis"
        ),
    ] = 500_000
    max_pass_tokens: Annotated[
        int | None,
        About("sweeping", shapes=True),
        Field(
            ge=2000, description="maximum input tokens of one prompt, for sweeps and the synthesis"
        ),
        NoneAllowed,
    ] = None
    synthesis_max_tokens: Annotated[
        int,
        About("synthesis", shapes=True),
        Field(ge=64, description="maximum tokens of the synthesis"),
    ] = 16000
    synthesis_effort: Annotated[
        Effort | None,
        About("synthesis", shapes=True),
        Field(description="reasoning effort of the synthesis; none: the model's default"),
        NoneAllowed,
    ] = "high"
    strict: Annotated[
        bool,
        About("synthesis", shapes=True),
        Field(
            description="ask once more where sentences of a report or an answer are in doubt, and "
            "strike those that still are"
        ),
    ] = False

    max_calls: Annotated[
        int | None,
        About("limits"),
        Field(ge=1, description="maximum model calls of one run"),
        NoneAllowed,
    ] = None
    max_tokens: Annotated[
        int | None,
        About("limits"),
        Field(ge=1, description="maximum tokens of one run, input plus output"),
        NoneAllowed,
    ] = None
    max_unmatched_tokens: Annotated[
        int | None,
        About("limits"),
        Field(
            ge=0,
            description="maximum tokens to buy for a question that matches no text; above it, "
            "pgs asks first or refuses",
        ),
        NoneAllowed,
    ] = 100_000
    max_cost: Annotated[
        float | None,
        About("limits", metavar="AMOUNT"),
        Field(
            gt=0,
            allow_inf_nan=False,
            description="maximum cost of one run, at the prices in pgs.toml",
        ),
        NoneAllowed,
    ] = None
    run_timeout_s: Annotated[
        float | None,
        About("limits", flag="--timeout", metavar="SECONDS"),
        Field(gt=0, allow_inf_nan=False, description="maximum seconds of one run"),
        NoneAllowed,
    ] = None

    max_concurrent_sweeps: Annotated[
        int,
        About("calls"),
        Field(
            ge=1,
            le=256,
            description="initial number of model calls in flight; may grow to max_concurrent_calls",
        ),
    ] = 5
    max_concurrent_calls: Annotated[
        int,
        About("calls"),
        Field(
            ge=1,
            le=256,
            description="maximum model calls in flight; the limit grows toward this while "
            "calls succeed",
        ),
    ] = 20
    hedge: Annotated[
        bool,
        About("calls"),
        Field(description="send slow calls a second time while slots are idle; costs more"),
    ] = False
    tokens_per_minute: Annotated[
        int | None,
        About("calls"),
        Field(
            ge=1,
            description="maximum tokens per minute and endpoint, over all calls of this process",
        ),
        NoneAllowed,
    ] = None
    model_timeout_s: Annotated[
        float,
        About("calls"),
        Field(gt=0, description="maximum seconds of one model call, retries included"),
    ] = 600.0

    cache: Annotated[
        bool,
        About("cache", flag="--no-cache", help="neither read nor write the reply cache"),
        Field(description="reuse the stored replies to identical prompts"),
    ] = True
    cache_mb: Annotated[
        float,
        About("cache"),
        Field(ge=0, allow_inf_nan=False, description="maximum size of the reply cache, in MB"),
    ] = 64.0

    lease_s: Annotated[
        float,
        About("jobs"),
        Field(
            ge=1,
            le=3600,
            description="seconds after which a job that shows no sign of life loses its lease",
        ),
    ] = 30.0
    query_timeout_s: Annotated[
        float,
        About("connection"),
        Field(gt=0, description="maximum seconds of one database statement"),
    ] = 300.0


SHAPING = tuple(knob.name for knob in declarations(PGSConfig) if knob.about.shapes)
"""Knobs that influence the content of an answer; another value makes another request."""
