"""The manual: one Markdown page per topic, and the JSON schemas of exports.

All of it is shipped with the package.
"""

from __future__ import annotations

from importlib import resources

from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.invalid_values import suggest_similar

TOPICS = {
    "concepts": "how a question is answered, sessions, and the glossary",
    "commands": "which command does what, and the exit codes",
    "settings": "every setting with its default, and where it is read from",
    "answers": "what an answer holds and what is checked without a model",
    "partitions": "how partitions are made, and when they are made again",
    "permissions": "scopes, conditions, and dates: who sees which nodes",
    "operations": "costs, limits, resuming, the reply cache, jobs, the local server",
    "python": "the Python API",
    "results": "every value that the Python API returns, with its fields",
    "exports": "the files of an answer: tables as CSV or Parquet, and JSON schemas",
    "extending": "models, embedders, and parts of an ingestion of your own",
    "mcp": "graphs as tools of an agent",
    "server": "the server: its tokens, its API, and the events of a run",
    "api": "every request of the HTTP API with its fields",
    "events": "every event of a run with its fields",
    "data-model": "what is written into your database, and how to query it",
    "benchmarks": "what was measured, and how to measure it yourself",
    "limits": "what pgs cannot do",
}
"""The pages in reading order, each with what it covers."""


def read_page(topic: str) -> str:
    """Return the Markdown of a page. Raises UsageError for an unknown topic."""
    if topic not in TOPICS:
        hint = suggest_similar(topic, TOPICS, f"the topics are {', '.join(TOPICS)}")
        raise UsageError(f"the manual has no topic {topic!r}; {hint}")
    return resources.files(__package__).joinpath(f"{topic}.md").read_text(encoding="utf-8")


def read_schema(name: str) -> str:
    """Return the JSON schema of an export: a document, or a row of a table.

    Raises UsageError for an unknown name.
    """
    folder = resources.files(__package__).joinpath("schemas")
    known = sorted(path.name.removesuffix(".json") for path in folder.iterdir())
    if name not in known:
        raise UsageError(f"there is no schema {name!r}; the schemas are {', '.join(known)}")
    return folder.joinpath(f"{name}.json").read_text(encoding="utf-8")
