// Keep by whose rules the names of a graph are resolved. `own`: they are not the built-in ones.
// params: graph: graph, holder: str, resolver: str, own: bool
// returns: held: bool
// mode: write
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
SET w.resolver = $resolver, w.own_resolver = $own
RETURN true AS held
