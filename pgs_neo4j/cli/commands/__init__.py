"""One module per group of commands. Each imports what it needs when it runs, not before."""
