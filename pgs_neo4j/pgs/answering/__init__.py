"""Searches a graph in the published modes, and answers from what they find."""
