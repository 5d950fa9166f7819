// Begin a generation. It is being built, and no reader sees it yet. No row when the graph is
// gone, or when another job now holds the lease it would be built under.
// params: graph: graph, fence: int, id: str, properties: dict
// returns: id: str
// mode: write
MATCH (l:PgsLease {name: $graph})
SET l.checked_at = datetime()
WITH l WHERE l.fence = $fence
MATCH (g:PgsGraph {name: $graph})
MERGE (c:PgsGeneration {id: $id})
SET c += $properties, c.fence = $fence, c.status = 'building',
    c.created_at = coalesce(c.created_at, datetime())
MERGE (c)-[:PGS_OF]->(g)
RETURN c.id AS id
