"""Indexes that searches can ask: which there are, which are wanted, and how they are made."""
