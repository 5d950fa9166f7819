"""Divides the nodes of a partition among prompts of limited size."""
