"""Commands that ask, and that show what was asked before."""
