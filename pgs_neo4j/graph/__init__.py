"""Partitions as arrays: pure numpy, no I/O, no clock."""
