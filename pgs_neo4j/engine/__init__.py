"""The engine: the one door to everything that pgs can do.

Commands, the clock of jobs, and later a server import from here and from nothing below.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgs_neo4j.answering.context import LEAST_TOKENS
    from pgs_neo4j.answering.layered import LayeredAnswer, SearchAnswer
    from pgs_neo4j.browse.costs import DayCost
    from pgs_neo4j.browse.graph_states import GraphState
    from pgs_neo4j.calls.ledger import current_day
    from pgs_neo4j.calls.replies import Kept
    from pgs_neo4j.calls.spending import Payer, paid_by
    from pgs_neo4j.catalog import (
        GraphChange,
        StoredGraph,
        StoredNames,
        check_mapping,
        find_only_graph,
    )
    from pgs_neo4j.catalog import check_name as check_graph_name
    from pgs_neo4j.database.lease import LeaseHolder
    from pgs_neo4j.demo.graph import DEMO_QUESTIONS
    from pgs_neo4j.demo.packages import PACKAGE_QUESTIONS, read_packages
    from pgs_neo4j.doctor import Check
    from pgs_neo4j.engine.diagnosis import diagnose
    from pgs_neo4j.engine.facade import PGS
    from pgs_neo4j.engine.indexes import CreatedIndexes
    from pgs_neo4j.engine.loading import DEMO_GRAPH
    from pgs_neo4j.engine.names import read_names
    from pgs_neo4j.engine.repartition import EndedJob, FailedJob, JobOrder, OnBegin
    from pgs_neo4j.ingest.brain import read_brain
    from pgs_neo4j.ingest.graph_file import GraphFile
    from pgs_neo4j.ingest.load import LoadResult
    from pgs_neo4j.llm.protocol import is_free
    from pgs_neo4j.partitioning.result import Partitioning
    from pgs_neo4j.pgs.order import check_question
    from pgs_neo4j.purge import Purged
    from pgs_neo4j.retrieval.indexes.search_index import SearchIndex
    from pgs_neo4j.runs.feedback import check_outcome
    from pgs_neo4j.runs.jobs import Job
    from pgs_neo4j.runs.listing import RunInfo
    from pgs_neo4j.runs.replies import StoredReply
    from pgs_neo4j.runs.runs import StoredRun
    from pgs_neo4j.runs.session import SessionInfo
    from pgs_neo4j.survey import Domain, LabelSample, NodeProperty, Proposal, Survey, propose

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
    "Check": "doctor",
    "DayCost": "browse.costs",
    "CreatedIndexes": "engine.indexes",
    "DEMO_GRAPH": "engine.loading",
    "DEMO_QUESTIONS": "demo.graph",
    "Domain": "survey",
    "EndedJob": "engine.repartition",
    "FailedJob": "engine.repartition",
    "GraphChange": "catalog",
    "GraphFile": "ingest.graph_file",
    "GraphState": "browse.graph_states",
    "Job": "runs.jobs",
    "JobOrder": "engine.repartition",
    "OnBegin": "engine.repartition",
    "Kept": "calls.replies",
    "LEAST_TOKENS": "answering.context",
    "LabelSample": "survey",
    "LayeredAnswer": "answering.layered",
    "LeaseHolder": "database.lease",
    "LoadResult": "ingest.load",
    "NodeProperty": "survey",
    "PACKAGE_QUESTIONS": "demo.packages",
    "PGS": "engine.facade",
    "Partitioning": "partitioning.result",
    "Payer": "calls.spending",
    "Proposal": "survey",
    "Purged": "purge",
    "RunInfo": "runs.listing",
    "StoredReply": "runs.replies",
    "SearchAnswer": "answering.layered",
    "SearchIndex": "retrieval.indexes.search_index",
    "SessionInfo": "runs.session",
    "StoredGraph": "catalog",
    "StoredNames": "catalog",
    "StoredRun": "runs.runs",
    "Survey": "survey",
    "check_graph_name": "catalog:check_name",
    "check_mapping": "catalog",
    "check_outcome": "runs.feedback",
    "check_question": "pgs.order",
    "current_day": "calls.ledger",
    "diagnose": "engine.diagnosis",
    "find_only_graph": "catalog",
    "is_free": "llm.protocol",
    "paid_by": "calls.spending",
    "propose": "survey",
    "read_brain": "ingest.brain",
    "read_names": "engine.names",
    "read_packages": "demo.packages",
}


def __getattr__(name: str) -> object:
    # Lazy, so that a command imports only what it uses.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, original = _HOMES[name].partition(":")
    return getattr(import_module(f"pgs_neo4j.{module}"), original or name)
