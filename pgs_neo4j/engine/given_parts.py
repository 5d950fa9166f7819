"""Checks models, embedders, and parts of an ingestion that a program passes, before their use.

Only a call shows whether an object does what its Protocol promises. Here, an object is refused only
if it lacks an attribute, has a property of the wrong type, or has a method that cannot be called as
the engine calls it.
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
    """What the value of a property must be, in words, and the function that checks a value."""

    words: str
    accepts: Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class GivenKind:
    """What objects of one kind need: properties, and methods with the arguments they get.

    Arguments that end in ``=`` are passed by name. ``optional`` are properties that an object may
    lack, and ``coroutines`` are the methods that are awaited.
    """

    title: str
    properties: Mapping[str, Property]
    methods: Mapping[str, tuple[str, ...]]
    optional: Mapping[str, Property] = field(default_factory=dict)
    coroutines: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of all required properties and methods."""
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
    """Raise ConfigError if an object cannot be used as the given kind.

    An object is refused if it is a class or a string, lacks an attribute, has a property of the
    wrong type, or has a method that cannot be called as the engine calls it. ``argument`` is the
    name under which the object was passed.
    """
    if isinstance(given, type):
        name = given.__name__
        raise ConfigError(f"{argument} is the class {name}; pass an object of it, as in {name}()")
    if isinstance(given, str):
        raise ConfigError(_explain_text(argument, given, kind))
    missing = [name for name in kind.needed if not _has_attribute(argument, given, name)]
    if missing:
        raise ConfigError(
            f"{argument} has {_join_names([f'no {name}' for name in missing])}; {kind.title} has "
            f"{_join_names(kind.needed)}: {PAGE}"
        )
    optional = [item for item in kind.optional.items() if _has_attribute(argument, given, item[0])]
    for name, wanted in (*kind.properties.items(), *optional):
        value = getattr(given, name)
        if not wanted.accepts(value):
            what = "a method" if callable(value) else one_line(repr(value), 60)
            raise ConfigError(f"{name} of {argument} is {what}; make it {wanted.words}: {PAGE}")
    for name, parameters in kind.methods.items():
        _check_method(argument, name, getattr(given, name), parameters)
        if name in kind.coroutines and not _may_be_awaited(getattr(given, name)):
            raise ConfigError(
                f"{name} of {argument} is not a coroutine; write it as 'async def {name}' with a "
                f"return, and without a yield: {PAGE}"
            )


def _has_attribute(argument: str, given: object, name: str) -> bool:
    """Return whether an object has an attribute. Raises ConfigError if reading it fails."""
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
        return  # code in C may have no known signature
    if name == "stream" and inspect.iscoroutinefunction(method):
        raise ConfigError(
            f"stream of {argument} is a coroutine; yield pieces of text, and finally the "
            f"Completion: {PAGE}"
        )


def _may_be_awaited(method: Callable[..., object]) -> bool:
    """Return whether the result of a method may be awaitable.

    A Python function without ``async`` may return the coroutine of another function. Its return
    annotation, or the function that it wraps, shows whether it does. Any other callable may return
    an awaitable, since nothing is known about it.
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
    """Explain that an object is needed instead of a string, and what to pass."""
    ways = {
        "embed": "embed=True takes the embedder of the settings",
        "chunker": f"a built-in way to divide is named by chunk_strategy={text!r}",
        "sweep_llm": f"a model is named by sweep_model={text!r}",
        "synthesis_llm": f"a model is named by synthesis_model={text!r}",
    }
    way = ways.get(argument, "code is named by the settings")
    return f"{argument} is the text {one_line(repr(text), 60)}; pass {kind.title}, or {way}"


def _join_names(names: Sequence[str]) -> str:
    *first, last = names
    if not first:
        return last
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}"
