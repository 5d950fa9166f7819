"""Reads files. Each module returns the normalized text of one kind of file."""
