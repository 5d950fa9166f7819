// The relations of an entity, those with the most statements first.
// params: graph: graph, id: str, limit: int
// returns: type: str, other: str, other_id: str, outgoing: bool, fact: str, mentions: int
// mode: read
// sees: documents
MATCH (e:LoadedNode {graph: $graph, id: $id})-[r:RELATES]-(o:`__Entity__`)
RETURN r.rel_type AS type, o.name AS other, o.id AS other_id, startNode(r) = e AS outgoing,
       coalesce(r.fact, '') AS fact, r.mentions AS mentions
ORDER BY mentions DESC, type, other_id, outgoing
LIMIT $limit
