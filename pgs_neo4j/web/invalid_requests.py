"""Says what is wrong with a request that does not have its form, without what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from pgs_neo4j.config.token_table import FORMS
from pgs_neo4j.text.invalid_values import UNKNOWN, describe_invalid, name_place
from pgs_neo4j.web.failures import Failure
from pgs_neo4j.web.routes.ids import ID_FORMS

_FORMS: Mapping[str, str] = {**FORMS, **ID_FORMS}
BODY = "the body"


def describe_request(request: Request, error: RequestValidationError) -> tuple[Failure, str | None]:
    """Return the failure, and the name of the part that is wrong; None for the whole body."""
    detail = error.errors()[0]
    source, *place = detail["loc"]
    if detail["type"] == "json_invalid":  # its place is a number of characters
        return _failure(describe_invalid(BODY, detail)), None
    known: Sequence[str] = detail.get("ctx", {}).get("known", ())  # of a query
    if source == "body":
        place, known = _find_place(_body_type(request), place)
        if detail["type"] in UNKNOWN:
            place = list(detail["loc"][1:])
    where = name_place(place)
    words = describe_invalid(where or BODY, detail, known, _FORMS)
    return _failure(words), where or None


def _failure(words: str) -> Failure:
    return Failure(error=words, code="invalid", fix="see /api/openapi.json")


def _body_type(request: Request) -> object:
    """Return the type of the body that a route takes; None if it takes none."""
    field = getattr(request.scope.get("route"), "body_field", None)
    return field.field_info.annotation if field else None


def _find_place(kind: object, place: Iterable[Any]) -> tuple[list[Any], Sequence[str]]:
    """Return the part of a place that a client knows, and the names of the fields at its end.

    Where a value may have one of several types, pydantic adds the type that it tried to the place.
    Clients know nothing of that.
    """
    known: list[Any] = []
    for part in place:
        model = _model_of(kind)
        if isinstance(part, int):
            kind = next((inner for inner in get_args(_listed(kind))), None)
        elif model is not None and part in model.model_fields:
            kind = model.model_fields[part].annotation
        else:
            break
        known.append(part)
    model = _model_of(kind)
    return known, [*model.model_fields] if model else ()


def _model_of(kind: object) -> type[BaseModel] | None:
    for member in (kind, *get_args(kind)):
        if isinstance(member, type) and issubclass(member, BaseModel):
            return member
    return None


def _listed(kind: object) -> object:
    """Return the list among the types of a value, or the type itself."""
    members = (member for member in get_args(kind) if get_args(member))
    return kind if _is_list(kind) else next((m for m in members if _is_list(m)), None)


def _is_list(kind: object) -> bool:
    return getattr(kind, "__origin__", None) in (list, tuple)
