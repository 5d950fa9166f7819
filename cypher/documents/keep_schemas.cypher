// Keep the schemas of a graph's documents.
// params: graph: graph, holder: str, schemas: list[str]
// returns: kept: bool
// mode: write
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
SET w.schemas = $schemas
RETURN true AS kept
