"""The only door to Graph Data Science: estimate, project, detect, average, drop.

The graphdatascience client is synchronous, so it runs in a worker thread (``client``). Its query
runner (``runner``) sends each statement through ``Database``. So one pool serves both, and
canceling a call ends it at the server. Projections are dropped even when the work inside fails.
"""

from pgs_neo4j.database.gds.algorithms import (
    Communities,
    compute_centroids,
    detect_communities,
    refuse_if_too_large,
)
from pgs_neo4j.database.gds.client import GDS, MINIMUM_VERSION, Owner, installed_version, open_gds
from pgs_neo4j.database.gds.projections import (
    PREFIX,
    Projection,
    Seeds,
    drop_leftovers,
    list_leftovers,
    project_edges,
    project_view,
    seed_label,
)

__all__ = [
    "GDS",
    "MINIMUM_VERSION",
    "PREFIX",
    "Communities",
    "Owner",
    "Projection",
    "Seeds",
    "compute_centroids",
    "detect_communities",
    "drop_leftovers",
    "installed_version",
    "list_leftovers",
    "open_gds",
    "project_edges",
    "project_view",
    "refuse_if_too_large",
    "seed_label",
]
