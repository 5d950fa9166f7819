"""The HTTP server: one page, one API, and a stream of events for each run.

It needs the extra ``serve``. Only the command line imports this package.
"""
