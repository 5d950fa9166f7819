"""Examines a set-up from configuration to model, and says how to mend what is wrong."""

from pgs_neo4j.doctor.check import Check, Status, unreadable
from pgs_neo4j.doctor.connection import Target
from pgs_neo4j.doctor.examination import examine

__all__ = ["Check", "Status", "Target", "examine", "unreadable"]
