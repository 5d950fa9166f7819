"""Divides what is written to a graph among transactions."""
