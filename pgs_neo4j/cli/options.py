"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.model import Mode

QuestionArgument = Annotated[str, typer.Argument(help="What you want to know.")]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]
GraphOption = Annotated[
    str | None,
    typer.Option("--graph", "-g", help="Stored graph; not needed where there is only one."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
FullSweepOption = Annotated[
    bool, typer.Option("--full-sweep", help="Take every partition, whatever the question.")
]
FractionOption = Annotated[
    float | None,
    typer.Option("--sweep-fraction", help="Share of relevant partitions, 0.1 to 1; no cap then."),
]
MostOption = Annotated[
    int | None, typer.Option("--max-sweep-partitions", help="Partitions at most [15].")
]
LeastOption = Annotated[
    int | None, typer.Option("--min-sweep-partitions", help="Partitions at least [0].")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option("--threshold", help="Similarity from which a partition is relevant [0.25]."),
]
MinCommunityOption = Annotated[
    int | None, typer.Option("--min-community-size", help="Nodes of a partition at least [30].")
]
MaxPartitionOption = Annotated[
    int | None, typer.Option("--target-partition-max", help="Nodes of a partition at most [1800].")
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        help="full: any partition; continue: what is unread, near or far; targeted: what is "
        "unread and relevant.",
    ),
]
SessionOption = Annotated[
    str, typer.Option("--session", help="Line of questioning whose coverage counts.")
]
TopKOption = Annotated[
    int | None,
    typer.Option(
        "--top-k", min=1, help="First answer from the K nearest nodes, then sweep (layered)."
    ),
]
ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        "--max-concurrent-sweeps",
        help="Model calls in flight at first [5]; may grow to max_concurrent_calls.",
    ),
]
SweepTokensOption = Annotated[
    int | None, typer.Option("--sweep-max-tokens", help="Tokens of one report [6000].")
]
SynthesisTokensOption = Annotated[
    int | None, typer.Option("--synthesis-max-tokens", help="Tokens of the synthesis [16000].")
]
# Text, read as settings are: so a bound that pgs.toml or the run has set can be lifted.
CallsBound = Annotated[
    str | None, typer.Option("--max-calls", metavar="N", help="Model calls at most, or 'none'.")
]
TokensBound = Annotated[
    str | None,
    typer.Option("--max-tokens", metavar="N", help="Tokens at most, input and output, or 'none'."),
]
CostBound = Annotated[
    str | None,
    typer.Option(
        "--max-cost", metavar="AMOUNT", help="Cost at most, by the prices in pgs.toml, or 'none'."
    ),
]
TimeBound = Annotated[
    str | None,
    typer.Option("--timeout", metavar="SECONDS", help="Time of the whole run, or 'none'."),
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Use no kept reply, and leave none behind.")
]
FlagSweepsOption = Annotated[
    int | None,
    typer.Option("--max-flag-sweeps", help="Flagged partitions swept after the others [3]."),
]
HedgeOption = Annotated[
    bool, typer.Option("--hedge", help="Ask stragglers a second time; costs more.")
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="With the same key, session, and request, the first answer again; not with --top-k.",
    ),
]
