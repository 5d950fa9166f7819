"""Routes that list, show, and add graphs, inspect the database, and make the demo."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from pgs_neo4j.config.token_table import NAME
from pgs_neo4j.engine import (
    DEMO_GRAPH,
    DEMO_QUESTIONS,
    StoredGraph,
    check_graph_name,
    check_mapping,
    propose,
)
from pgs_neo4j.errors import BusyError, GraphExistsError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.jobs import LiveJob, load_demo
from pgs_neo4j.web.routes.operations import StartedJob, describe_job
from pgs_neo4j.web.routes.router import BODY, GraphName, api_router, failing
from pgs_neo4j.web.shared import CallerNow, ServingNow, UnlimitedNow, visible_graph

router = api_router("graphs")
Text = Annotated[str, Field(min_length=1, max_length=200)]
Names = Annotated[tuple[Text, ...], Field(max_length=50, strict=False)]
Name = Text | None
NEW_NAME = Field(max_length=64, json_schema_extra={"pattern": NAME})
"""The pattern only informs clients; ``check_graph_name`` refuses invalid names."""


def _make_names_schema(pattern: str, **more: object) -> object:
    """Return the JSON schema of a list of names that match a pattern."""
    items = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": pattern}
    return WithJsonSchema({"type": "array", "maxItems": 50, "items": items, **more})


OWN_LABELS = _make_names_schema(r"^(?!Pgs)", minItems=1)
OWN_TYPES = _make_names_schema(r"^(?!PGS_)", minItems=1)
OF_LABELS = _make_names_schema(r"^(?!Pgs)[^.]+\..")
OPTIONAL: Any = Field(default_factory=tuple)
"""An omitted list means all; the factory hides the empty default, which clients may not send."""


def _require_names(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise PydanticCustomError("value_error", "the list is empty; leave it out to take all")
    return names


class ListedGraph(BaseModel):
    """A graph in short; figures are null before it is partitioned."""

    name: str
    labels: tuple[str, ...]
    generation: str | None
    nodes: int | None
    partitions: int | None
    redefined: bool


class NewGraph(BaseModel):
    """A view of the database to store under a name; see the manual on mappings.

    Left out, ``labels`` and ``relationship_types`` stand for all of them. An empty list is refused,
    since a program that filtered its list would show all of the database by it.
    """

    model_config = BODY

    name: Annotated[str, NEW_NAME]
    labels: Annotated[Names, AfterValidator(_require_names), OWN_LABELS, OPTIONAL]
    relationship_types: Annotated[Names, AfterValidator(_require_names), OWN_TYPES, OPTIONAL]
    text: Names = ()
    title: Name = None
    key: Name = None
    titles: Annotated[Names, OF_LABELS] = ()
    keys: Annotated[Names, OF_LABELS] = ()
    weight: Name = None
    relationship_weight: Name = None
    embedding: Name = None
    relationship_name: Name = None
    relationship_text: Name = None
    replace: bool = False
    allow_missing: Annotated[
        bool,
        Field(description="accept labels, types, and properties that nothing has yet"),
    ] = False

    def mapping(self) -> GraphMapping:
        """Return the mapping."""
        return GraphMapping(**self.model_dump(exclude={"name", "replace", "allow_missing"}))


class AddedGraph(BaseModel):
    """A graph that was stored; ``created``: its name is new."""

    name: str
    created: bool
    warnings: list[str]


class NewDemo(BaseModel):
    """Nothing: the demo has no options."""

    model_config = BODY


class StartedDemo(StartedJob):
    """The job that makes the demo, and questions to ask it."""

    questions: list[str]


@router.get("/graphs")
async def list_graphs(serving: ServingNow, caller: CallerNow) -> list[ListedGraph]:
    """Return the graphs that the caller sees, by name."""
    return [_make_entry(graph) for graph in await serving.pgs.graphs() if caller.sees(graph.name)]


@router.get("/graphs/{graph}")
async def show_graph(graph: GraphName, serving: ServingNow, caller: CallerNow) -> Json:
    """Return a graph with its mapping."""
    stored = await serving.pgs.graphs.get(await visible_graph(serving, caller, graph))
    return {str(name): value for name, value in plain_data(stored).items()}


@router.get("/inspect")
async def inspect(serving: ServingNow, _: UnlimitedNow) -> Json:
    """Return what the database holds, and a proposal for a graph.

    ``domains`` are parts of the database that no relationship connects, each with a proposal of its
    own, the largest first. Needs a token that is not limited to graphs.
    """
    survey = await serving.pgs.survey()
    proposal = propose(survey)
    proposed = {"mapping": plain_data(proposal.mapping), "notes": list(proposal.notes)}
    domains = [
        {**plain_data(domain), "mapping": plain_data(own.mapping)}
        for domain, own in await serving.pgs.survey.domains(survey)
    ]
    return {**plain_data(survey), **proposed, "recognized": proposal.recognized, "domains": domains}


@router.post("/graphs", status_code=201, responses=failing(GraphExistsError))
async def add_graph(body: NewGraph, serving: ServingNow, _: UnlimitedNow) -> AddedGraph:
    """Store a view of the database under a name. Nothing of the user's graph changes.

    A view can show all of the database, so this needs a token that is not limited to graphs.
    """
    serving.require_writing()
    check_graph_name(body.name)
    mapping = body.mapping()
    check_mapping(mapping)
    warnings = await serving.pgs.graphs.validate(mapping, allow_missing=body.allow_missing)
    created = await serving.pgs.graphs.add(body.name, mapping, replace=body.replace)
    return AddedGraph(name=body.name, created=created, warnings=list(warnings))


@router.post("/demo", status_code=202, responses=failing(GraphExistsError, BusyError))
async def make_demo(_: NewDemo, serving: ServingNow, caller: UnlimitedNow) -> StartedDemo:
    """Load and partition the demo graph in the background, if the database has no graph yet.

    Needs a token that is not limited to graphs.
    """
    serving.require_writing()
    if await serving.pgs.graphs():
        raise GraphExistsError("there is a graph already; 'pgs demo' makes the demo beside it")
    job = LiveJob(DEMO_GRAPH, caller, "demo")
    begun = describe_job(serving.jobs.start(job, partial(load_demo, serving.pgs, job.begin)))
    return StartedDemo(**begun.model_dump(), questions=list(DEMO_QUESTIONS))


def _make_entry(graph: StoredGraph) -> ListedGraph:
    return ListedGraph(
        name=graph.name,
        labels=graph.mapping.labels,
        generation=graph.generation,
        nodes=graph.node_count,
        partitions=graph.partition_count,
        redefined=graph.redefined,
    )
