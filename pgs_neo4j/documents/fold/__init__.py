"""What documents say, as one graph: a pure function of their live chunks, in any order."""
