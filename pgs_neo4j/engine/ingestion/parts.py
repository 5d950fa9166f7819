"""Takes the parts of an ingestion from a call, or from the code that the settings name.

The parts also decide how the documents of a graph are held for writing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar, cast

from pgs_neo4j.config import named_code
from pgs_neo4j.documents.enrich.describe import describer_signature
from pgs_neo4j.documents.fold.resolution import OwnResolver, Resolver
from pgs_neo4j.documents.names.renewal import hold_resolved
from pgs_neo4j.documents.order import Chunker, Describer, Extractor
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.given_parts import PARTS, check_given
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.own_models import describe_fault
from pgs_neo4j.model.documents import DocumentLoader

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that replace built-in ones: those of a call, else those of the settings.

    Each method returns None where the built-in part is to be used, and raises ConfigError for code
    that cannot be used, or must not run.
    """

    core: Core

    def loader(self, given: DocumentLoader | None = None) -> DocumentLoader | None:
        """Return what reads files."""
        return self._part("loader", given)

    def chunker(self, given: Chunker | None = None) -> Chunker | None:
        """Return what divides documents."""
        return self._part("chunker", given)

    def extractor(self, given: Extractor | None = None) -> Extractor | None:
        """Return what extracts entities and relations."""
        return self._part("extractor", given)

    def resolver(self, given: Resolver | None = None) -> Resolver | None:
        """Return what decides which names are one entity."""
        own = self._part("resolver", given)
        return None if own is None else OwnResolver(own)

    def describer(self, given: Describer | None = None) -> Describer | None:
        """Return what describes entities."""
        return self._part("describer", given)

    def _part(self, kind: str, given: Part | None) -> Part | None:
        """Return the part of the call, else the one that the settings name; it is made once."""
        if given is not None:
            check_given(kind, given, PARTS[kind])
            return given
        setting = f"ingest_{kind}"
        code = named_code(self.core.settings, setting)
        if code is None:
            return None
        if code not in self.core.parts:
            made = make_part(setting, code, PARTS[kind].needed)
            check_given(f"{code} of {setting}", made, PARTS[kind])
            self.core.parts[code] = made
        return cast(Part, self.core.parts[code])


def make_part(setting: str, code: str, needed: tuple[str, ...]) -> object:
    """Return what ``package.module:name`` names; a class or function is called first.

    Raises ConfigError if it cannot be imported, or lacks one of the ``needed`` attributes.
    """
    module, _, path = code.partition(":")
    if not module or not path:
        raise ConfigError(f"{setting} is {code!r}; write it as package.module:name")
    try:
        named: object = import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{setting} names {code}, and its module cannot be imported ({error}); install it, or "
            "add its folder to PYTHONPATH"
        ) from error
    except Exception as error:
        raise ConfigError(
            f"{setting} names {code}, and its module failed with {describe_fault(error)} when it "
            "was imported; correct it"
        ) from error
    where = f"the module {module}"
    for step in path.split("."):
        if not hasattr(named, step):
            raise ConfigError(f"{setting} names {code}, and {where} has no {step}")
        named, where = getattr(named, step), step
    try:
        part = cast(Callable[[], object], named)() if _makes(named) else named
    except Exception as error:
        raise ConfigError(
            f"{setting} names {code}, and {path}() failed with {describe_fault(error)}; it is "
            "called without arguments"
        ) from error
    missing = [name for name in needed if not hasattr(part, name)]
    if missing:
        raise ConfigError(f"{setting} names {code}, which has no {' and no '.join(missing)}")
    return part


def _makes(named: object) -> bool:
    """Whether a thing is called to make a part: a class, or a function."""
    return isinstance(named, type) or (callable(named) and not hasattr(named, "signature"))


def hold_graph(
    core: Core, graph: str, label: str, resolver: Resolver | None
) -> AbstractAsyncContextManager[Writer]:
    """Hold the right to write a graph; what has to be described waits for the describer.

    Raises ConfigError for parts that cannot be used. Entering raises UsageError, BusyError,
    LeaseLostError, and DatabaseError.
    """
    parts = Parts(core)
    own = parts.describer()
    built_in = describer_signature(core.sweep_llm, core.config.sweep_effort)
    signature = own.signature if own else built_in
    return hold_resolved(core.db, graph, label, signature, parts.resolver(resolver))
