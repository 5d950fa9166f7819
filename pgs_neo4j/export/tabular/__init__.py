"""Turns the parts of an answer into tables, for spreadsheets and for programs."""
