"""A reader without a model or key that quotes the sentences that matter.

Sweeps rank sentences by BM25 over the question's words and by how connected their nodes
are; the synthesis chases flags and counts what several partitions say or lack. It reasons
about nothing, and says so.
"""

from pgs_neo4j.llm.extractive.reader import ExtractiveLLM

__all__ = ["ExtractiveLLM"]
