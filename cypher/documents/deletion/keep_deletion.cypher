// Keep what a deletion searches for until its search has ended: hashes of ids, and of runs of words.
// params: graph: graph, holder: str, uid: str, properties: dict
// returns: kept: bool
// mode: write
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
MERGE (d:PgsDeletion {uid: $uid})
SET d += $properties, d.graph = $graph
RETURN true AS kept
