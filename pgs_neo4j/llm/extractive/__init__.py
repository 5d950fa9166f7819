"""Answers without a model or key, by quoting the relevant sentences.

Sweeps rank sentences by BM25 over the question's words and by the connections of their nodes. The
synthesis follows flags and counts statements that several partitions share or lack. It does not
reason, and its answer says so.
"""

from pgs_neo4j.llm.extractive.reader import ExtractiveLLM

__all__ = ["ExtractiveLLM"]
