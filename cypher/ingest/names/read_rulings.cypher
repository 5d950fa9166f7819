// What people ruled on the names of a graph.
// params: graph: str
// returns: key: str, type: str, into_key: str, into_type: str
// mode: read
// language: 5, 25
MATCH (r:LoadedNode:`__Ruling__` {graph: $graph})
RETURN r.key AS key, r.type AS type, r.into_key AS into_key, r.into_type AS into_type
ORDER BY key, type
