"""The schema of a database: read from samples, and pruned to what a question needs."""
