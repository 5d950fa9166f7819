// Names of all GDS projections, as proof that the catalog can be called.
// returns: names: list[str]
// mode: read
CALL gds.graph.list() YIELD graphName
RETURN collect(graphName) AS names
