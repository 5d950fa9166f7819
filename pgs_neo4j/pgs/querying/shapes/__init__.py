"""Answers questions of a closed family by statements, without a model."""
