"""``python -m pgs_neo4j`` is ``pgs``."""

from pgs_neo4j.cli import main

main()
