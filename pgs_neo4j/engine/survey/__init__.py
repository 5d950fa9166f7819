"""``pgs.survey``: the contents of a database, and a graph mapping for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.survey.proposal import Proposal, propose
from pgs_neo4j.engine.survey.sample import Domain, read_domains, restrict_survey, survey
from pgs_neo4j.engine.survey.validation import check_labels, validate
from pgs_neo4j.engine.survey.values import (
    LabelSample,
    NodeProperty,
    RelationshipProperty,
    Survey,
    TypeSample,
)

__all__ = [
    "Domain",
    "LabelSample",
    "NodeProperty",
    "Proposal",
    "RelationshipProperty",
    "Survey",
    "Surveyor",
    "TypeSample",
    "check_labels",
    "propose",
    "read_domains",
    "restrict_survey",
    "survey",
    "validate",
]


@dataclass(frozen=True, slots=True)
class Surveyor:
    """Samples the database. Called, it surveys: ``await pgs.survey()``."""

    _core: Core

    async def __call__(
        self, labels: Collection[str] = (), relationship_types: Collection[str] = ()
    ) -> Survey:
        """Return counts and a sample; empty lists mean all labels and types."""
        return await survey(self._core.db, labels, relationship_types)

    async def check_labels(self, labels: Sequence[str]) -> None:
        """Raise MappingError for a label that no node has, with a similar label."""
        await check_labels(self._core.db, labels)

    async def domains(self, survey: Survey) -> tuple[tuple[Domain, Proposal], ...]:
        """Return the domains of a survey with a proposal for each, the largest first.

        The survey must cover all labels. A domain is a group of labels that relationships or common
        nodes connect; a database has at least one. Raises DatabaseError.
        """
        found = await read_domains(self._core.db, survey)
        return tuple(
            (domain, propose(restrict_survey(survey, domain), domain.labels)) for domain in found
        )

    def propose(self, survey: Survey, labels: Collection[str] = ()) -> Proposal:
        """Return the graph mapping that suits a survey, with the reasons.

        With ``labels``, only nodes that have one of them take part.
        """
        return propose(survey, labels)
