"""Finds the parts of an ingestion: objects that a call passes, or code that the settings name.

With these parts, the module also opens the documents of a graph for writing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar, cast

from pgs_neo4j.config import trusted_code_name
from pgs_neo4j.documents.enrich.describe import describer_signature
from pgs_neo4j.documents.fold.resolution import OwnResolver, Resolver
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names
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
    """The parts that replace built-in ones: parts that a call passes, or that the settings name.

    Each method returns None if the built-in part is to be used, and raises ConfigError for code
    that cannot be used, or that must not run.
    """

    core: Core

    def loader(self, given: DocumentLoader | None = None) -> DocumentLoader | None:
        """Return the part that reads files."""
        return self._find_part("loader", given)

    def chunker(self, given: Chunker | None = None) -> Chunker | None:
        """Return the part that divides documents."""
        return self._find_part("chunker", given)

    def extractor(self, given: Extractor | None = None) -> Extractor | None:
        """Return the part that extracts entities and relations."""
        return self._find_part("extractor", given)

    def resolver(self, given: Resolver | None = None) -> Resolver | None:
        """Return the part that decides which names are one entity."""
        own = self._find_part("resolver", given)
        return None if own is None else OwnResolver(own)

    def describer(self, given: Describer | None = None) -> Describer | None:
        """Return the part that describes entities."""
        return self._find_part("describer", given)

    def _find_part(self, kind: str, given: Part | None) -> Part | None:
        """Return the part from the call, else the part from the settings, which is made once."""
        if given is not None:
            check_given(kind, given, PARTS[kind])
            return given
        setting = f"ingest_{kind}"
        code = trusted_code_name(self.core.settings, setting)
        if code is None:
            return None
        if code not in self.core.parts:
            made = make_part(setting, code, PARTS[kind].needed)
            check_given(f"{code} of {setting}", made, PARTS[kind])
            self.core.parts[code] = made
        return cast(Part, self.core.parts[code])


def make_part(setting: str, code: str, needed: tuple[str, ...]) -> object:
    """Import what ``package.module:name`` names; if it is a class or function, return its result.

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
        part = cast(Callable[[], object], named)() if _is_factory(named) else named
    except Exception as error:
        raise ConfigError(
            f"{setting} names {code}, and {path}() failed with {describe_fault(error)}; it is "
            "called without arguments"
        ) from error
    missing = [name for name in needed if not hasattr(part, name)]
    if missing:
        raise ConfigError(f"{setting} names {code}, which has no {' and no '.join(missing)}")
    return part


def _is_factory(named: object) -> bool:
    """Return whether an object makes a part if called: a class, or a function but not a part."""
    return isinstance(named, type) or (callable(named) and not hasattr(named, "signature"))


def hold_graph(
    core: Core, graph: str, label: str, resolver: Resolver | None
) -> AbstractAsyncContextManager[Writer]:
    """Hold the right to write the documents of a graph.

    The writer carries the current describer's signature, so that entities whose descriptions are
    outdated are queued for it. Raises ConfigError for parts that cannot be used. Entering the
    context raises UsageError, BusyError, LeaseLostError, and DatabaseError.
    """
    parts = Parts(core)
    own = parts.describer()
    built_in = describer_signature(core.sweep_llm, core.config.sweep_effort)
    signature = own.signature if own else built_in
    return hold_with_resolved_names(core.db, graph, label, signature, parts.resolver(resolver))
