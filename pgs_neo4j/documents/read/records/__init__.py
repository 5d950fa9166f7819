"""Reads tables and JSON: each record is a document."""

from pgs_neo4j.documents.read.records.files import RECORDS, read_records

__all__ = ["RECORDS", "read_records"]
