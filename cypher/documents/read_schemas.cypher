// The schemas that documents of a graph were extracted and pruned by.
// params: graph: str
// returns: schemas: list[str]
// mode: read
MATCH (w:PgsIngest {graph: $graph})
RETURN coalesce(w.schemas, []) AS schemas
