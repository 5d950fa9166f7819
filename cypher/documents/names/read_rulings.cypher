// What people ruled on the names of a graph. A name that was merged has the one that it was merged
// into, by key and type.
// params: graph: graph
// returns: key: str, type: str, into_key: str?, into_type: str?, apart: bool
// mode: read
// sees: documents
MATCH (r:LoadedNode:`__Ruling__` {graph: $graph})
WHERE r.other_key IS NULL
RETURN r.key AS key, r.type AS type, r.into_key AS into_key, r.into_type AS into_type,
       r.apart AS apart
ORDER BY key, type
