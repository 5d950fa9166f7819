"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.cli.completion import complete_graphs, complete_runs, complete_sessions
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import Mode, SearchMode
from pgs_neo4j.text.shown import one_line

QuestionArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUESTION", help="What you want to know; - reads it from stdin.", show_default=False
    ),
]
RunArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN",
        help="The run's id, or how it begins; the latest run by default.",
        autocompletion=complete_runs,
    ),
]
GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        "-g",
        help="Stored graph; optional if there is only one.",
        autocompletion=complete_graphs,
    ),
]
GraphName = Annotated[
    str | None,
    typer.Option(
        "--graph",
        "-g",
        help="Name of the graph; optional if PGS_GRAPH names it.",
        autocompletion=complete_graphs,
    ),
]
LatestOfOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        "-g",
        help="Without RUN: take the latest run of this graph.",
        autocompletion=complete_graphs,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="Print lines of JSON on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress on stderr.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print every step as a line on stderr.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
ForgetOption = Annotated[
    bool,
    typer.Option("--forget", help="Also remove the text of answers that quote what is deleted."),
]
StructureOption = Annotated[
    bool,
    typer.Option("--structure-only", help="Ask a graph in which no node has text."),
]
FullSweepOption = Annotated[
    bool, typer.Option("--full-sweep", help="Sweep every partition, whatever the question.")
]
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="full: relevant partitions; continue: any with unread nodes; targeted: relevant ones "
        "with unread nodes.  [default: full; with -c: continue]",
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        help="Session that records what was read.  [default: default]",
        autocompletion=complete_sessions,
    ),
]
ContinueOption = Annotated[
    bool,
    typer.Option(
        "--continue",
        "-c",
        help="Continue in the session of the latest run, with its question unless you ask another.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Ask this model, for all tasks, instead of those in the settings.",
    ),
]
TopKOption = Annotated[
    int | None,
    typer.Option("--top-k", min=1, help="First answer from the K best matches, then sweep."),
]
SearchModeOption = Annotated[
    SearchMode | None,
    typer.Option(
        "--search-mode",
        metavar="MODE",
        help="How --top-k finds them, as in the modes of 'pgs search'; else as routing does.",
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="Return the first answer to the same request in the session; not with --top-k.",
    ),
]


def model_settings(model: str | None) -> dict[str, object]:
    """Return the settings that ``--model`` stands for: all tasks of a question.

    Raises UsageError if the extractive reader answers questions, since it uses no model.
    """
    if model is None:
        return {}
    from pgs_neo4j import config

    names = ("sweep_model", "synthesis_model", "answer_model", "keyword_model", "ordering_model")
    values: dict[str, object] = dict.fromkeys(names, model)
    settings = config.load(values).settings
    if not settings.uses_models:
        why = "PGS_LLM_PROVIDER is extractive" if settings.llm_provider else "no endpoint is set"
        raise UsageError(
            f"--model {one_line(model, 60)} would have no effect, because {why} and the extractive "
            "reader asks no model; set PGS_LLM_PROVIDER, or PGS_LLM_BASE_URL, or a key such as "
            "OPENAI_API_KEY, or leave out --model"
        )
    return values
