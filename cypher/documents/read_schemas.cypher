// The schemas that documents of a graph were extracted and pruned by.
// params: graph: str
// returns: schemas: list[str]
// mode: read
// language: 5, 25
MATCH (w:PgsIngest {graph: $graph})
RETURN coalesce(w.schemas, []) AS schemas
