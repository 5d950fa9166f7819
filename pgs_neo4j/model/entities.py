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

    ``joined`` says why it belongs to this entity, and ``to`` which name it follows, by id.
    ``leads``: it is the leading name. ``merged``, ``apart``: by a ruling. ``type``: few chunks give
    it this type. Otherwise the kind of variant, such as ``initials``.
    """

    id: str
    spellings: tuple[str, ...]
    mentions: int
    joined: str
    to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChunk:
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
    """An entity with its names, and with the first of its chunks and relations.

    ``chunk_count`` and ``relation_count`` count all of them.
    """

    entity: EntityInfo
    names: tuple[EntityName, ...]
    chunks: tuple[EntityChunk, ...]
    chunk_count: int
    relations: tuple[EntityRelation, ...]
    relation_count: int
