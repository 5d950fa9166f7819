"""Searches a graph in the published modes, and answers questions from the results."""
