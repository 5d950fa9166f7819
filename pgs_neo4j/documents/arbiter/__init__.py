"""Asks a model about close names that their letters leave apart."""
