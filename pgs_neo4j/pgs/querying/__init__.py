"""Turns a question into Cypher, lets the gate check it, and reads its rows."""
