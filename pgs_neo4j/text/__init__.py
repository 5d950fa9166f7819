"""Pure functions on text: words, cuts, citations, comparison, and safe display."""
