"""Extraction without a model: terms, definitions, and relations of one chunk by itself."""

from pgs_neo4j.text.local_extraction.extract import extract_terms

__all__ = ["extract_terms"]
