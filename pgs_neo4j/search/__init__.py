"""Vectors of questions and partitions, and the nodes nearest to a question."""
