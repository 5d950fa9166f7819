// Keep by whose rules the names of a graph are resolved.
// params: graph: str, holder: str, resolver: str
// returns: held: bool
// mode: write
// language: 5, 25
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
SET w.resolver = $resolver
RETURN true AS held
