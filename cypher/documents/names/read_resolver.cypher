// The resolver by whose rules the names of a graph were resolved.
// params: graph: graph
// returns: resolver: str, own: bool
// mode: read
MATCH (w:PgsIngest {graph: $graph})
RETURN coalesce(w.resolver, '') AS resolver, coalesce(w.own_resolver, false) AS own
