// Drop projections from the catalog of GDS. Names not in it do no harm.
// params: names: list[str]
// returns: dropped: list[str]
// mode: read
UNWIND $names AS name
CALL gds.graph.drop(name, false) YIELD graphName
RETURN collect(graphName) AS dropped
