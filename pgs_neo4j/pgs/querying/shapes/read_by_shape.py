"""Answers structured questions without a model, by statements of a few shapes.

A question is read in every way in which all its words have a place (``shape_grammar``). Its names
are looked up (``shape_names``), and a reading whose names are not found is dropped. One reading
must be left: a question with none or with two is refused, because a wrong answer is worse than no
answer. Its statement (``shape_statements``) passes the gate like any other statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import ReadLimits, read_statement
from pgs_neo4j.model import GraphSchema, StatementRows
from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.pgs.querying.shapes.grammar import read_shapes
from pgs_neo4j.pgs.querying.shapes.names import (
    Found,
    Place,
    Texts,
    Unresolved,
    list_sought,
    resolve_names,
)
from pgs_neo4j.pgs.querying.shapes.parts import Shape
from pgs_neo4j.pgs.querying.shapes.question_reading import Question
from pgs_neo4j.pgs.querying.shapes.question_tokens import LONGEST_QUESTION, read_words
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, find_titles
from pgs_neo4j.pgs.querying.shapes.statements import MOST_ROWS, write_statement

MOST_LIMIT = 1000
"""Rows that are read to find those that are equal to the last."""

MOST_SEARCHED_LABELS = 40
"""Labels that are searched for the names of one question; each is a read of all its nodes."""

MOST_TEXTS = 1000
READ_S = 10.0
ABILITIES = (
    "without a model, pgs counts, lists, ranks, and groups the nodes of a label, and finds the "
    "shortest paths between two names"
)


@dataclass(frozen=True, slots=True)
class ShapeRead:
    """The rows of a statement that fits a question, or the reason why none fits."""

    rows: StatementRows | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recognized:
    """The readings of a question before its names are looked up, or why it has none."""

    shapes: tuple[Shape, ...] = ()
    reason: str = ""


async def read_by_shape(
    db: Database, schema: GraphSchema, mapping: GraphMapping, question: str
) -> ShapeRead:
    """Answer a question by a statement of a known shape, without a model.

    Raises the errors of ``read_statement``.
    """
    words = SchemaWords(schema, find_titles(schema, mapping), ENGLISH)
    recognized = recognize(words, question)
    if not recognized.shapes:
        return ShapeRead(reason=recognized.reason)
    sought = list_sought(words, recognized.shapes)
    labels = {place.label for place in sought}
    if len(labels) > MOST_SEARCHED_LABELS:
        reason = f"its names may belong to {len(labels)} labels; write the label before each name"
        return ShapeRead(reason=_refuse(reason))
    shape = choose_shape(words, recognized.shapes, await _read_texts(db, sought))
    if isinstance(shape, str):
        return ShapeRead(reason=_refuse(shape))
    if len(shape.ends) == 2 and shape.ends[0] == shape.ends[1]:
        return ShapeRead(reason=_refuse("both names are those of one node"))
    return ShapeRead(await _read_rows(db, words, shape))


def recognize(schema: SchemaWords, question: str) -> Recognized:
    """Return the readings of a question, whose names are not yet looked up."""
    words = read_words(question)
    if not words or len(question) > LONGEST_QUESTION:
        return Recognized(reason=_refuse(f"it has no word or over {LONGEST_QUESTION} characters"))
    asked = Question(words, question, schema)
    if negation := _find_negation(asked):
        return Recognized(reason=_refuse(f"“{negation}” excludes something"))
    shapes = read_shapes(asked)
    shapes = [one for one in shapes if _can_be_shown(schema, one)]
    return Recognized(tuple(shapes), "" if shapes else _refuse(_explain_words(asked)))


def choose_shape(schema: SchemaWords, shapes: Sequence[Shape], texts: Texts) -> Shape | str:
    """Return the only reading whose names are found, or why no single one is left."""
    resolved = [resolve_names(schema, one, texts) for one in shapes]
    fit = list(dict.fromkeys(one for one in resolved if isinstance(one, Shape)))
    ambiguous = [one.reason for one in resolved if isinstance(one, Unresolved) and one.reason]
    if len(fit) == 1 and not ambiguous:
        return fit[0]
    if len(fit) > 1:
        return f"it may mean {_describe(fit[0])} or {_describe(fit[1])}"
    if ambiguous:
        return ambiguous[0]
    missing = [one.name for one in resolved if isinstance(one, Unresolved)]
    return f"no node that fits is called “{min(missing, key=len)}”"


def _refuse(reason: str) -> str:
    return f"this needs a model: {reason}; {ABILITIES}"


def _find_negation(q: Question) -> str:
    """Return the word or phrase that excludes something; empty if no word does."""
    for at, word in enumerate(q.words):
        if word.lower.endswith(("n't", "n\u2019t")):
            return word.text
        for _, phrase in q.skip(at, q.language.negations):
            return phrase
    return ""


def _explain_words(q: Question) -> str:
    """Return what hindered the reading that came farthest, else the words without a place."""
    late = [at for at in q.obstacles if at >= q.farthest]
    if late:
        return q.obstacles[max(late)]
    if q.farthest < len(q.words):
        left = q.text[q.words[q.farthest].start : q.words[-1].end]
        if q.farthest:
            read = q.text[: q.words[q.farthest - 1].end]
            return f"“{read}” is clear, and “{left}” has no place in a known shape"
        return "neither a known kind of question nor a label of the graph is recognized"
    return (
        q.obstacles[max(q.obstacles)] if q.obstacles else "the words fit together in no known way"
    )


def _can_be_shown(schema: SchemaWords, shape: Shape) -> bool:
    """Return whether the nodes that a shape shows have a title, all of them the same property."""
    names = {schema.name_property(label) for label in shape.labels}
    if shape.kind == "top" and ("" in names or (shape.counted and shape.shown not in names | {""})):
        return False
    if shape.kind in ("list", "top") and len(names) > 1:
        return False
    link = shape.group.link if shape.group else None
    return link is None or all(schema.name_property(one.label) for one in link.routes)


def _describe(shape: Shape) -> str:
    """Return a reading in a few words, for a message that names two of them."""
    parts = [shape.function or shape.kind, "/".join(shape.labels)]
    for link in (*shape.links, *filter(None, (shape.counted,))):
        ways = "/".join(dict.fromkeys(one.type for one in link.routes))
        parts.append(f"{ways} {'/'.join(dict.fromkeys(one.label for one in link.routes))}")
        parts.append(f"“{link.name}”" if link.name else "")
    parts += [f"{'/'.join(one.properties)} {one.sign} {one.value}" for one in shape.conditions]
    parts += [shape.measure, shape.shown]
    if shape.group:
        parts.append(f"by {shape.group.property or 'linked nodes'}")
    return "(" + " ".join(filter(None, parts)) + ")"


async def _read_texts(db: Database, sought: Mapping[Place, set[str]]) -> Texts:
    """Look up names in the properties of labels, one read for each label."""
    texts: dict[tuple[Place, str], list[Found]] = {}
    for label in dict.fromkeys(place.label for place in sought):
        places = [place for place in sought if place.label == label]
        rows = await db.read(
            queries.get("pgs/querying/shapes/read_texts"),
            label=label,
            properties=[place.property for place in places],
            names=sorted({name for place in places for name in sought[place]}),
            limit=MOST_TEXTS,
        )
        for row in rows:
            key = (Place(label, row["property"]), row["text"].lower())
            found = Found(row["text"], row["nodes"], row["element_id"])
            texts.setdefault(key, []).append(found)
    return texts


async def _read_rows(db: Database, schema: SchemaWords, shape: Shape) -> StatementRows:
    """Read the rows of a shape. Of the highest values, the last is read with all its equals."""
    if shape.kind != "top":
        return await _read(db, schema, shape)
    shape = replace(shape, limit=shape.limit or 1)
    read = await _read(db, schema, shape)
    if len(read.rows) < shape.limit:
        return read
    more = await _read(db, schema, replace(shape, limit=min(shape.limit + MOST_ROWS, MOST_LIMIT)))
    last = read.rows[-1][-1]
    equals = sum(row[-1] == last for row in more.rows[len(read.rows) :])
    return await _read(db, schema, replace(shape, limit=shape.limit + equals)) if equals else read


async def _read(db: Database, schema: SchemaWords, shape: Shape) -> StatementRows:
    limits = ReadLimits(seconds=READ_S, rows=max(MOST_ROWS, shape.limit))
    return await read_statement(db, write_statement(schema, shape), limits=limits)
