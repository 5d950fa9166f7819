"""Variants of names: acronyms, initials, spellings, company forms, and typing errors."""
