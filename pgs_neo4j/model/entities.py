"""Entities of a graph of documents, as they are listed and shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityInfo:
    """An entity of a graph. ``mentions`` counts the chunks that mention it, by type and name."""

    id: str
    name: str
    type: str
    mentions: int
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityName:
    """A name of an entity, with its spellings, the commonest first.

    ``joined`` says how it came to be of this entity, and ``to`` by which of its names. ``leads``:
    it is the fullest. ``merged`` and ``apart``: people ruled so. ``type``: too few chunks give it
    this type. Else it is the way in which it varies the other, as in ``initials``.
    """

    id: str
    spellings: tuple[str, ...]
    mentions: int
    joined: str
    to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPassage:
    """A chunk that mentions an entity: its document, page, and headings, and the name it uses."""

    chunk: str
    document: str
    name: str
    page: int | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """A relation of an entity to ``other``. ``outgoing``: it begins at the entity."""

    type: str
    other: str
    other_id: str
    outgoing: bool
    fact: str
    mentions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPage:
    """An entity with its names, and with the first of its passages and relations.

    ``passage_count`` and ``relation_count`` count all of them.
    """

    entity: EntityInfo
    names: tuple[EntityName, ...]
    passages: tuple[EntityPassage, ...]
    passage_count: int
    relations: tuple[EntityRelation, ...]
    relation_count: int
