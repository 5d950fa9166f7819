// Names of all GDS projections, as proof that the catalog can be called.
// params:
// returns: names: list[str]
// mode: read
// language: 5, 25
CALL gds.graph.list() YIELD graphName
RETURN collect(graphName) AS names
