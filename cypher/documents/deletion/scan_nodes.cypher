// Every text of every node: strings of at least `least` characters, and lists of strings. Those of
// the graph's chunks are left out, since they are what the rest is compared with, and so are our
// nodes that hold numbers alone. Each value is read once and then judged: if its node is deleted in
// between, a second reading would find null.
// params: graph: graph, least: int
// returns: element_id: str, labels: list[str], id: str, values: list[list[any]]
// mode: read
// sees: everything
MATCH (n)
WHERE NOT n:PgsPostings AND NOT n:PgsSegment AND NOT n:PgsWeight
WITH n, n:LoadedNode AND n:Chunk AND coalesce(n.graph = $graph, false) AS live
WITH n, [pair IN [key IN keys(n) WHERE NOT (live AND key = 'text') | [key, n[key]]]
         WHERE pair[1] IS :: STRING NOT NULL AND size(pair[1]) >= $least
            OR pair[1] IS :: LIST<STRING NOT NULL> NOT NULL] AS values
WHERE values <> []
RETURN elementId(n) AS element_id, labels(n) AS labels,
       coalesce(toStringOrNull(n.id), toStringOrNull(n.uid), toStringOrNull(n.key), elementId(n)) AS id,
       values
