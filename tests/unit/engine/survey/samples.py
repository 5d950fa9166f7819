"""Surveys of made-up databases, and the properties they are made of."""

from pgs_neo4j.engine.survey import (
    LabelSample,
    NodeProperty,
    RelationshipProperty,
    Survey,
    TypeSample,
)


def text(name: str, nodes: int = 100, length: float = 300.0, prose: int | None = None):
    return NodeProperty(
        name=name,
        nodes=nodes,
        types=("STRING",),
        distinct=nodes,
        texts=nodes,
        mean_length=length,
        longest=int(3 * length),
        prose=nodes if prose is None else prose,
    )


def name(called: str, nodes: int = 100, length: float = 12.0):
    return text(called, nodes, length, prose=0)


def number(called: str, least: float, greatest: float, nodes: int = 100, type_: str = "INTEGER"):
    return NodeProperty(
        name=called, nodes=nodes, types=(type_,), distinct=nodes, least=least, greatest=greatest
    )


def vector(called: str, *sizes: tuple[int, int]):
    nodes = sum(count for _, count in sizes)
    return NodeProperty(name=called, nodes=nodes, types=("LIST<FLOAT>",), sizes=sizes)


def label(called: str, *properties: NodeProperty, count: int = 1000):
    return LabelSample(label=called, count=count, sampled=100, properties=properties)


def link(called: str, *properties: RelationshipProperty, count: int = 1000):
    return TypeSample(type=called, count=count, sampled=100, properties=properties)


def of(*samples: LabelSample | TypeSample) -> Survey:
    labels = tuple(sample for sample in samples if isinstance(sample, LabelSample))
    types = tuple(sample for sample in samples if isinstance(sample, TypeSample))
    return Survey(
        nodes=sum(sample.count for sample in labels),
        relationships=sum(sample.count for sample in types),
        labels=labels,
        relationship_types=types,
    )


FORUM = of(
    label(
        "Question",
        text("body", length=1500.0),
        text("title", length=59.0, prose=98),
        name("link"),
        name("uuid"),
        number("view_count", 4, 900),
        number("creation_date", 1_580_000_000, 1_630_000_000),
    ),
    label("Answer", text("body", length=900.0), text("title", length=60.0), name("uuid")),
    label("Comment", number("score", 0, 3), name("link"), name("uuid")),
    label("User", name("display_name", length=10.0), name("uuid")),
    label("Tag", name("name", length=9.0), number("tag_id", 1, 99), count=300),
    link("ASKED"),
)


IDEAS = of(
    label(
        "Idea",
        text("concept"),
        name("tag"),
        number("id", 0, 99),
        number("weight", 0.2, 2.5, type_="FLOAT"),
        vector("embedding", (512, 100)),
    ),
    link(
        "NEAR",
        RelationshipProperty(
            name="weight", relationships=100, types=("FLOAT",), least=0.1, greatest=1.0
        ),
    ),
)
