"""A resolver that people have written, whose faults become errors that name it."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.documents.fold.resolution import MOST_BLOCKS, Resolver
from pgs_neo4j.errors import ModelError
from pgs_neo4j.llm.own_models import PAGE, said_by
from pgs_neo4j.text.variants.likeness import PresentName


@dataclass(frozen=True, slots=True)
class OwnResolver:
    """Asks another resolver. Raises ModelError where that one raises, or returns something else."""

    own: Resolver

    @property
    def signature(self) -> str:
        """That of the other one."""
        return self.own.signature

    def blocks(self, name: PresentName) -> tuple[str | None, ...]:
        """Return the blocks of a name."""
        with said_by(self._name, "resolver"):
            found: object = self.own.blocks(name)
        blocks = found if isinstance(found, tuple) and len(found) <= MOST_BLOCKS else (found,)
        if blocks is found and all(one is None or isinstance(one, str) for one in blocks):
            return blocks
        raise self._wrong("blocks", f"a tuple of at most {MOST_BLOCKS} texts or None")

    def variant_kind(self, one: PresentName, other: PresentName) -> str | None:
        """Return in which way two names vary."""
        with said_by(self._name, "resolver"):
            kind: object = self.own.variant_kind(one, other)
        if kind is None or isinstance(kind, str):
            return kind
        raise self._wrong("variant_kind", "a text or None")

    @property
    def _name(self) -> str:
        return type(self.own).__name__

    def _wrong(self, method: str, wanted: str) -> ModelError:
        return ModelError(
            f"{method} of the resolver {self._name} returned something else than {wanted}, {PAGE}"
        )
