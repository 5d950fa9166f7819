// The resolver by whose rules the names of a graph were resolved.
// params: graph: str
// returns: resolver: str
// mode: read
// language: 5, 25
MATCH (w:PgsIngest {graph: $graph})
RETURN coalesce(w.resolver, '') AS resolver
