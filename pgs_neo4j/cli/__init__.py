"""The command line: arguments in, events displayed, exit codes out.

Nothing heavy is imported before a command runs, so that ``pgs --help`` answers at once.
"""

from pgs_neo4j.cli.app import main

__all__ = ["main"]
