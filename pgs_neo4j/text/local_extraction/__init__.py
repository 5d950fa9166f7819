"""Extracts terms, definitions, and relations from one chunk, without a model."""

from pgs_neo4j.text.local_extraction.extract import extract_terms

__all__ = ["extract_terms"]
