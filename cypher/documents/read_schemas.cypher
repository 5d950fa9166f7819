// The schemas that documents of a graph were extracted and pruned by.
// params: graph: graph
// returns: schemas: list[str]
// mode: read
MATCH (w:PgsIngest {graph: $graph})
RETURN coalesce(w.schemas, []) AS schemas
