"""Checks models, embedders, and parts of an ingestion that people pass in, before they are used.

Whether an object does what its Protocol says shows when it is called. Here it is only refused if it
lacks something, or cannot be called as the engine calls it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.text.shown import one_line

PAGE = "'pgs help extending' has an example"


@dataclass(frozen=True, slots=True)
class GivenKind:
    """What an object of a kind needs: properties, and methods with the arguments they get.

    Arguments with ``=`` are given by name.
    """

    title: str
    properties: tuple[str, ...]
    methods: Mapping[str, tuple[str, ...]]

    @property
    def needed(self) -> tuple[str, ...]:
        """All names."""
        return (*self.properties, *self.methods)


_CALL = ("prompt", "max_tokens=", "effort=")
MODEL = GivenKind("an LLM", ("name",), {"complete": _CALL, "stream": _CALL, "close": ()})
EMBEDDER = GivenKind(
    "an embedder", ("name", "dimensions", "threshold"), {"embed": ("texts",), "close": ()}
)
PARTS: Mapping[str, GivenKind] = {
    "loader": GivenKind("a loader", ("signature",), {"takes": ("name",), "load": ("source",)}),
    "chunker": GivenKind("a chunker", ("signature",), {"divide": ("document",)}),
    "extractor": GivenKind(
        "an extractor",
        ("signature", "schema"),
        {"extract": ("chunks",), "forecast": ("chunks",)},
    ),
    "resolver": GivenKind(
        "a resolver", ("signature",), {"blocks": ("name",), "variant_kind": ("one", "other")}
    ),
    "describer": GivenKind(
        "a describer", ("signature",), {"describe": ("name", "kind", "fragments")}
    ),
}


def check_given(argument: str, given: object, kind: GivenKind) -> None:
    """Raise ConfigError if an object cannot be of a kind; ``argument`` is what it was passed as.

    It lacks something, or a method of it cannot be called as the engine calls it.
    """
    if isinstance(given, type):
        name = given.__name__
        raise ConfigError(f"{argument} is the class {name}; pass an object of it, as in {name}()")
    missing = [name for name in kind.needed if not hasattr(given, name)]
    if missing:
        raise ConfigError(
            f"{argument} has no {_listed(missing, 'and no')}; {kind.title} has "
            f"{_listed(kind.needed, 'and')}: {PAGE}"
        )
    for name, parameters in kind.methods.items():
        method = getattr(given, name)
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
            continue  # the signature of code in C is not known
        if name == "stream" and inspect.iscoroutinefunction(method):
            raise ConfigError(
                f"stream of {argument} is a coroutine; let it yield pieces of text and last the "
                f"Completion: {PAGE}"
            )


def _listed(names: Sequence[str], joint: str) -> str:
    *first, last = names
    return f"{', '.join(first)} {joint} {last}" if first else last
