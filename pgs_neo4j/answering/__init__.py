"""Searches a graph in the published modes; later, answers from what they find."""
