"""Reads single nodes of a graph and what is around them, for people and agents to look at."""
