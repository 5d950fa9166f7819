"""The commands by panel of `pgs --help`: where each is, and its line."""

from __future__ import annotations

# `pgs --help` imports none of them.
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "demo": ("operations.demo:demo", "Try pgs on Python's standard library, with no setup."),
        "inspect": ("graphs.inspect:inspect", "Inspect a database and propose a graph."),
        "graph": ("graphs.graph:graph_app", "Store, list, show, and remove named graphs."),
        "ingest": ("graphs.ingest:ingest", "Make a graph of files, and keep it equal to them."),
        "documents": (
            "graphs.documents:documents_app",
            "List, show, and delete the documents of a graph.",
        ),
        "entities": (
            "graphs.entities:entities_app",
            "List, show, merge, and split the entities of a graph.",
        ),
        "load": ("graphs.load:load", "Load a file and store it as a graph."),
        "doctor": ("operations.doctor:doctor", "Check the setup and say how to fix it."),
        "help": ("operations.manual:show_help", "Read the manual."),
    },
    "Ask": {
        "ask": ("questions.ask:ask", "Ask a graph a question."),
        "search": ("questions.search:search", "Find what matches a question."),
        "plan": ("questions.plan:plan", "Show what a question would read and cost."),
        "route": (
            "graphs.partitions:route",
            "Show which partitions a question would go to, and why.",
        ),
        "resume": ("questions.resume:resume", "Resume a run or an ingestion that ended early."),
    },
    "Answers": {
        "show": ("questions.show:show", "Show the stored answer of a run."),
        "export": ("questions.export:export", "Write the stored answer of a run to a file."),
        "feedback": (
            "questions.feedback:feedback",
            "Say whether an answer was useful.",
        ),
        "runs": ("questions.runs:runs", "List the runs, the latest first."),
        "sessions": ("questions.sessions:sessions_app", "List, show, and delete sessions."),
    },
    "Partitions": {
        "partition": ("graphs.partitions:partition", "Divide a graph into partitions."),
        "partitions": (
            "graphs.partitions:partitions",
            "List, report on, or check the partitions of a graph.",
        ),
        "repartition": (
            "operations.repartition:repartition",
            "Repartition graphs as jobs that leave a record.",
        ),
        "schedule": (
            "operations.schedule:schedule",
            "Repartition graphs and ingest files at set times.",
        ),
        "jobs": ("operations.jobs:jobs_app", "List and show jobs; release a graph."),
        "analogies": (
            "questions.analogies:analogies",
            "Link texts that use other words for the same mechanism.",
        ),
        "index": (
            "graphs.index:index_app",
            "Create, list, and drop full-text and vector indexes.",
        ),
    },
    "Serve": {
        "mcp": ("operations.agents:mcp", "Serve graphs to an agent over MCP."),
        "serve": ("operations.serve:serve", "Serve an API to programs, and a page to people."),
        "token": ("operations.serve:token", "Make a token for someone who may use the server."),
    },
    "Setup": {
        "config": ("operations.config:config_app", "Show the settings in force."),
        "local": ("operations.local:local_app", "Manage the local server: Neo4j and GDS."),
        "cache": ("operations.cache:cache_app", "Show and clear the cache of model replies."),
        "purge": ("graphs.purge:purge", "Remove everything pgs wrote from the database."),
    },
}
COMMANDS = {name: place for panel in PANELS.values() for name, place in panel.items()}
