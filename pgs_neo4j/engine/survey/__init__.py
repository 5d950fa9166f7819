"""Surveys an existing database and proposes a graph mapping for it."""

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
    "TypeSample",
    "check_labels",
    "propose",
    "read_domains",
    "restrict_survey",
    "survey",
    "validate",
]
