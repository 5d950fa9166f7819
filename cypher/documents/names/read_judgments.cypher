// What a model judged on pairs of names of one type: whether both name the same thing.
// params: graph: graph
// returns: key: str, type: str, other_key: str, same: bool
// mode: read
// sees: documents
MATCH (r:LoadedNode:`__Ruling__` {graph: $graph})
WHERE r.other_key IS NOT NULL
RETURN r.key AS key, r.type AS type, r.other_key AS other_key, r.same AS same
ORDER BY type, key, other_key
