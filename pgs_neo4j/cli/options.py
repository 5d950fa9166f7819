"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.model import Mode

QuestionArgument = Annotated[str, typer.Argument(help="What you want to know.")]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]
GraphOption = Annotated[
    str | None,
    typer.Option("--graph", "-g", help="Stored graph; optional if there is only one."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="Print lines of JSON on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress on stderr.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
FullSweepOption = Annotated[
    bool, typer.Option("--full-sweep", help="Sweep every partition, whatever the question.")
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        help="full: relevant partitions; continue: any with unread nodes; targeted: relevant ones "
        "with unread nodes.",
    ),
]
SessionOption = Annotated[
    str, typer.Option("--session", help="Session that records what was read.")
]
TopKOption = Annotated[
    int | None,
    typer.Option("--top-k", min=1, help="First answer from the K best matches, then sweep."),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="Return the first answer to the same request in the session; not with --top-k.",
    ),
]
