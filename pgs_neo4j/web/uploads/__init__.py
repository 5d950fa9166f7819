"""Files on their way into a graph: received, kept for a while, and taken or removed."""
