"""The words of texts: found, counted, indexed, and chosen to tell partitions apart."""
