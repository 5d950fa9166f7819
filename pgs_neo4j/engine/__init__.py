"""The engine: the one door to everything that pgs can do.

Commands and servers import what is listed here. Apart from that, they import only a few modules of
the engine, and ``config``, ``events``, ``errors``, ``export``, ``manual``, ``model``,
``telemetry``, and ``text``. ``pgs local`` also imports the managed server, ``database.local``. The
schedule and the metrics import from here too, and nothing from the folders with models or a
database.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgs_neo4j.database.lease import LeaseHolder
    from pgs_neo4j.database.search_indexes import SearchIndex
    from pgs_neo4j.documents.loading.brain import read_brain
    from pgs_neo4j.documents.loading.graph_file import GraphFile
    from pgs_neo4j.documents.loading.load import LoadResult
    from pgs_neo4j.engine.catalog import (
        GraphChange,
        StoredGraph,
        StoredNames,
        check_mapping,
        find_only_graph,
    )
    from pgs_neo4j.engine.catalog import check_name as check_graph_name
    from pgs_neo4j.engine.demo.graph import DEMO_QUESTIONS
    from pgs_neo4j.engine.demo.packages import PACKAGE_QUESTIONS, read_packages
    from pgs_neo4j.engine.doctor import Check
    from pgs_neo4j.engine.doctor.examination import diagnose
    from pgs_neo4j.engine.facade import PGS
    from pgs_neo4j.engine.graphs import GraphState, read_names
    from pgs_neo4j.engine.indexes import CreatedIndexes
    from pgs_neo4j.engine.jobs import EndedJob, FailedJob, JobOrder, OnBegin
    from pgs_neo4j.engine.loading import DEMO_GRAPH
    from pgs_neo4j.engine.purge import Purged
    from pgs_neo4j.engine.runs import DayCost
    from pgs_neo4j.engine.survey import Domain, LabelSample, NodeProperty, Proposal, Survey, propose
    from pgs_neo4j.llm.calls.ledger import current_day
    from pgs_neo4j.llm.calls.replies import Kept
    from pgs_neo4j.llm.calls.spending import Payer, paid_by
    from pgs_neo4j.llm.protocol import is_free
    from pgs_neo4j.pgs.answering.context import LEAST_TOKENS
    from pgs_neo4j.pgs.answering.layered import LayeredAnswer, SearchAnswer
    from pgs_neo4j.pgs.partitioning.result import Partitioning
    from pgs_neo4j.pgs.request import Request, check_question
    from pgs_neo4j.pgs.runs.feedback import check_outcome
    from pgs_neo4j.pgs.runs.jobs import Job
    from pgs_neo4j.pgs.runs.listing import RunInfo, StoredReply
    from pgs_neo4j.pgs.runs.runs import StoredRun
    from pgs_neo4j.pgs.runs.session import SessionInfo

__all__ = [
    "DEMO_GRAPH",
    "DEMO_QUESTIONS",
    "LEAST_TOKENS",
    "PACKAGE_QUESTIONS",
    "PGS",
    "Check",
    "CreatedIndexes",
    "DayCost",
    "Domain",
    "EndedJob",
    "FailedJob",
    "GraphChange",
    "GraphFile",
    "GraphState",
    "Job",
    "JobOrder",
    "Kept",
    "LabelSample",
    "LayeredAnswer",
    "LeaseHolder",
    "LoadResult",
    "NodeProperty",
    "OnBegin",
    "Partitioning",
    "Payer",
    "Proposal",
    "Purged",
    "Request",
    "RunInfo",
    "SearchAnswer",
    "SearchIndex",
    "SessionInfo",
    "StoredGraph",
    "StoredNames",
    "StoredReply",
    "StoredRun",
    "Survey",
    "check_graph_name",
    "check_mapping",
    "check_outcome",
    "check_question",
    "current_day",
    "diagnose",
    "find_only_graph",
    "is_free",
    "paid_by",
    "propose",
    "read_brain",
    "read_names",
    "read_packages",
]

_HOMES = {
    "Check": "engine.doctor",
    "DayCost": "engine.runs",
    "CreatedIndexes": "engine.indexes",
    "DEMO_GRAPH": "engine.loading",
    "DEMO_QUESTIONS": "engine.demo.graph",
    "Domain": "engine.survey",
    "EndedJob": "engine.jobs",
    "FailedJob": "engine.jobs",
    "GraphChange": "engine.catalog",
    "GraphFile": "documents.loading.graph_file",
    "GraphState": "engine.graphs",
    "Job": "pgs.runs.jobs",
    "JobOrder": "engine.jobs",
    "OnBegin": "engine.jobs",
    "Kept": "llm.calls.replies",
    "LEAST_TOKENS": "pgs.answering.context",
    "LabelSample": "engine.survey",
    "LayeredAnswer": "pgs.answering.layered",
    "LeaseHolder": "database.lease",
    "LoadResult": "documents.loading.load",
    "NodeProperty": "engine.survey",
    "PACKAGE_QUESTIONS": "engine.demo.packages",
    "PGS": "engine.facade",
    "Partitioning": "pgs.partitioning.result",
    "Payer": "llm.calls.spending",
    "Proposal": "engine.survey",
    "Purged": "engine.purge",
    "Request": "pgs.request",
    "RunInfo": "pgs.runs.listing",
    "StoredReply": "pgs.runs.listing",
    "SearchAnswer": "pgs.answering.layered",
    "SearchIndex": "database.search_indexes",
    "SessionInfo": "pgs.runs.session",
    "StoredGraph": "engine.catalog",
    "StoredNames": "engine.catalog",
    "StoredRun": "pgs.runs.runs",
    "Survey": "engine.survey",
    "check_graph_name": "engine.catalog:check_name",
    "check_mapping": "engine.catalog",
    "check_outcome": "pgs.runs.feedback",
    "check_question": "pgs.request",
    "current_day": "llm.calls.ledger",
    "diagnose": "engine.doctor.examination",
    "find_only_graph": "engine.catalog",
    "is_free": "llm.protocol",
    "paid_by": "llm.calls.spending",
    "propose": "engine.survey",
    "read_brain": "documents.loading.brain",
    "read_names": "engine.graphs",
    "read_packages": "engine.demo.packages",
}


def __getattr__(name: str) -> object:
    # Lazy, so that a command imports only what it uses.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, original = _HOMES[name].partition(":")
    return getattr(import_module(f"pgs_neo4j.{module}"), original or name)
