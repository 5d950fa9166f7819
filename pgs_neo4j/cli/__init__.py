"""The command line: arguments in, events displayed, exit codes out.

Nothing heavy is imported before a command runs, so that ``pgs --help`` answers at once.
"""

import signal

__all__ = ["main"]


def main() -> None:
    """Run ``pgs`` with the process's arguments, and exit with its code."""
    # Modules load for half a second, and Ctrl-C would end that in a traceback. There is nothing to
    # clean up yet. Where SIGINT is ignored, as behind nohup, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pgs_neo4j.cli.app import main as run_app

    run_app()
