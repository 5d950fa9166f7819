"""Examines a setup from configuration to model, and suggests fixes."""

from pgs_neo4j.engine.doctor.check import Check, Status, report_unreadable
from pgs_neo4j.engine.doctor.examination import examine

__all__ = ["Check", "Status", "examine", "report_unreadable"]
