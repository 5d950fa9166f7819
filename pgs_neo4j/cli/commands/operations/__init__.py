"""Commands that operate pgs: jobs, settings, the local server, and the demo."""
