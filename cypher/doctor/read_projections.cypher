// Names of the projections in the catalog of GDS, which has to be callable to tell them.
// params:
// returns: names
// mode: read
CALL gds.graph.list() YIELD graphName
RETURN collect(graphName) AS names
