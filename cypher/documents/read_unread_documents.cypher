// The documents of a graph that were read only in part: the first ones by id, with what is unread of
// each, and how many there are. An index holds these documents and no others.
// params: graph: graph, most: int
// returns: total: int, documents: list[dict]
// mode: read
// sees: documents
MATCH (d:LoadedNode {graph: $graph, partly_read: true})
WITH d ORDER BY d.id
WITH collect(d {.id, .name, .unread}) AS documents
RETURN size(documents) AS total, documents[..$most] AS documents
