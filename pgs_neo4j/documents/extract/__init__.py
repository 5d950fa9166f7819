"""Extracts entities and relations from chunks, by a model or by statistics; each text only once."""
