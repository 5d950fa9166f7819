"""Finds, counts, and indexes the words of texts, and chooses words that distinguish partitions."""
