"""Checks models, embedders, and parts of an ingestion that people pass in, before they are used.

Whether an object does what its Protocol says shows when it is called. Here it is only refused if it
lacks something, has a property of another type, or cannot be called as the engine calls it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.own_models import describe_fault
from pgs_neo4j.text.extraction.schema import EntitySchema
from pgs_neo4j.text.shown import one_line

PAGE = "'pgs help extending' has an example"


@dataclass(frozen=True, slots=True)
class Property:
    """What a property has to be, in words, and whether a value is that."""

    words: str
    holds: Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class GivenKind:
    """What an object of a kind needs: properties, and methods with the arguments they get.

    Arguments with ``=`` are given by name. ``optional`` are properties that it may lack, and
    ``coroutines`` the methods that are awaited.
    """

    title: str
    properties: Mapping[str, Property]
    methods: Mapping[str, tuple[str, ...]]
    optional: Mapping[str, Property] = field(default_factory=dict)
    coroutines: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """All names."""
        return (*self.properties, *self.methods)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_length(value: object) -> bool:
    return value is None or (isinstance(value, int) and value > 0 and value is not True)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


_TEXT = Property("a text that is not empty", _is_text)
_TRUTH = Property("True or False", lambda value: isinstance(value, bool))
_LENGTH = Property("a whole number from 1, or None", _is_length)
_NUMBER = Property("a number, or None", _is_number)
_SCHEMA = Property(
    "an EntitySchema, or None", lambda value: value is None or isinstance(value, EntitySchema)
)

_CALL = ("prompt", "max_tokens=", "effort=")
MODEL = GivenKind(
    "an LLM",
    {"name": _TEXT},
    {"complete": _CALL, "stream": _CALL, "close": ()},
    optional={"signature": _TEXT, "free": _TRUTH},
    coroutines=("complete", "close"),
)
EMBEDDER = GivenKind(
    "an embedder",
    {"name": _TEXT, "dimensions": _LENGTH, "threshold": _NUMBER},
    {"embed": ("texts",), "close": ()},
    optional={"free": _TRUTH},
    coroutines=("embed", "close"),
)
_SIGNED = {"signature": _TEXT}
PARTS: Mapping[str, GivenKind] = {
    "loader": GivenKind("a loader", _SIGNED, {"takes": ("name",), "load": ("source",)}),
    "chunker": GivenKind("a chunker", _SIGNED, {"divide": ("document",)}, coroutines=("divide",)),
    "extractor": GivenKind(
        "an extractor",
        _SIGNED | {"schema": _SCHEMA, "free": _TRUTH, "shares": _TRUTH, "sure": _TRUTH},
        {"extract": ("chunks",), "forecast": ("chunks",)},
        coroutines=("extract", "forecast"),
    ),
    "resolver": GivenKind(
        "a resolver", _SIGNED, {"blocks": ("name",), "variant_kind": ("one", "other")}
    ),
    "describer": GivenKind(
        "a describer",
        _SIGNED,
        {"describe": ("name", "kind", "fragments")},
        coroutines=("describe",),
    ),
}


def check_given(argument: str, given: object, kind: GivenKind) -> None:
    """Raise ConfigError if an object cannot be of a kind; ``argument`` is what it was passed as.

    It lacks something, has a property of another type, or a method of it cannot be called as the
    engine calls it.
    """
    if isinstance(given, type):
        name = given.__name__
        raise ConfigError(f"{argument} is the class {name}; pass an object of it, as in {name}()")
    if isinstance(given, str):
        raise ConfigError(_explain_text(argument, given, kind))
    missing = [name for name in kind.needed if not _has(argument, given, name)]
    if missing:
        raise ConfigError(
            f"{argument} has {_listed([f'no {name}' for name in missing])}; {kind.title} has "
            f"{_listed(kind.needed)}: {PAGE}"
        )
    optional = [one for one in kind.optional.items() if _has(argument, given, one[0])]
    for name, one in (*kind.properties.items(), *optional):
        value = getattr(given, name)
        if not one.holds(value):
            what = "a method" if callable(value) else one_line(repr(value), 60)
            raise ConfigError(f"{name} of {argument} is {what}; let it be {one.words}: {PAGE}")
    for name, parameters in kind.methods.items():
        _check_method(argument, name, getattr(given, name), parameters)
        if name in kind.coroutines and not _may_be_awaited(getattr(given, name)):
            raise ConfigError(
                f"{name} of {argument} is no coroutine; write it as 'async def {name}' with a "
                f"return, and without a yield: {PAGE}"
            )


def _has(argument: str, given: object, name: str) -> bool:
    """Return whether an object has an attribute. Raises ConfigError if it fails when it is read."""
    try:
        return hasattr(given, name)
    except Exception as error:
        raise ConfigError(
            f"{name} of {argument} cannot be read, it failed with {describe_fault(error)}"
        ) from error


def _check_method(argument: str, name: str, method: object, parameters: Sequence[str]) -> None:
    if not callable(method):
        raise ConfigError(f"{name} of {argument} is no method; {PAGE}")
    positional = [one for one in parameters if not one.endswith("=")]
    named = dict.fromkeys(one.rstrip("=") for one in parameters if one.endswith("="))
    try:
        inspect.signature(method).bind(*positional, **named)
    except TypeError as error:
        call = ", ".join((*positional, *(f"{one}=…" for one in named)))
        raise ConfigError(
            f"{name} of {argument} cannot be called as {name}({call}): "
            f"{one_line(str(error))}; {PAGE}"
        ) from None
    except ValueError:
        return  # the signature of code in C is not known
    if name == "stream" and inspect.iscoroutinefunction(method):
        raise ConfigError(
            f"stream of {argument} is a coroutine; let it yield pieces of text and last the "
            f"Completion: {PAGE}"
        )


def _may_be_awaited(method: Callable[..., object]) -> bool:
    """Return whether what a method returns may be awaited.

    A Python function without ``async`` may pass on the coroutine of another one, which its
    annotation or the function that it wraps shows. Of any other callable, nothing is known.
    """
    inner = inspect.unwrap(method)
    function = getattr(inner, "__func__", inner)
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        return True
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        return False
    returned = str(function.__annotations__.get("return", ""))
    return any(kind in returned for kind in ("Awaitable", "Coroutine", "Future", "Task"))


def _explain_text(argument: str, text: str, kind: GivenKind) -> str:
    """Return what to write instead of a text, which names no object."""
    ways = {
        "embed": "embed=True takes the embedder of the settings",
        "chunker": f"a built-in way to divide is named by chunk_strategy={text!r}",
        "sweep_llm": f"a model is named by sweep_model={text!r}",
        "synthesis_llm": f"a model is named by synthesis_model={text!r}",
    }
    way = ways.get(argument, "code is named by the settings")
    return f"{argument} is the text {one_line(repr(text), 60)}; pass {kind.title}, or {way}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    if not first:
        return last
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}"
