"""Describes partitions: keywords, summaries, centroids, the hierarchy, and the text index."""
