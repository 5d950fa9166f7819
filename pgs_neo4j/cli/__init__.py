"""The command line: it parses arguments, displays events, and returns exit codes.

Nothing heavy is imported before a command runs, so that ``pgs --help`` answers at once.
"""

import signal

__all__ = ["main"]


def main() -> None:
    """Run ``pgs`` with the process's arguments, and exit with its code."""
    # Importing the modules takes half a second, and Ctrl-C would end it with a traceback. There is
    # nothing to clean up yet, so the signal may simply end the process. If SIGINT is ignored, as
    # under nohup, it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pgs_neo4j.cli.app import main as run_app

    run_app()
