// Give up the right to write a graph's documents.
// params: graph: graph, holder: str
// returns: released: bool
// mode: write
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
REMOVE w.holder, w.expires_at
RETURN true AS released
