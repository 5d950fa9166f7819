// Drop projections from the catalog of GDS. Names not in it do no harm.
// params: names
// returns: dropped
// mode: read
UNWIND $names AS name
CALL gds.graph.drop(name, false) YIELD graphName
RETURN collect(graphName) AS dropped
