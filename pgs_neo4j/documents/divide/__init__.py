"""Divides documents by what their sentences mean."""
