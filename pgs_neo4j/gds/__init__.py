"""The only door to Graph Data Science: estimate, project, detect, average, drop.

The graphdatascience client is synchronous. It runs in a worker thread (``calls``) on a query
runner that hands each statement back to ``Database`` (``runner``), so one pool serves both, and
a cancelled call is ended at the server. Projections are dropped even when the work inside fails.
"""

from pgs_neo4j.gds.calls import Owner
from pgs_neo4j.gds.catalog import PREFIX, drop_leftovers, leftovers
from pgs_neo4j.gds.centroids import centroids
from pgs_neo4j.gds.client import GDS, MINIMUM_VERSION, installed_version, open_gds
from pgs_neo4j.gds.communities import Communities, detect
from pgs_neo4j.gds.memory import refuse_if_too_large
from pgs_neo4j.gds.view import Projection, Seeds, project_view, seed_label

__all__ = [
    "GDS",
    "MINIMUM_VERSION",
    "PREFIX",
    "Communities",
    "Owner",
    "Projection",
    "Seeds",
    "centroids",
    "detect",
    "drop_leftovers",
    "installed_version",
    "leftovers",
    "open_gds",
    "project_view",
    "refuse_if_too_large",
    "seed_label",
]
