// Nodes of a generation that a full-text index finds, for many queries at once. `found` has for
// each place in `queries` how many of its first `fetched` nodes are of the generation, and `most`
// of those, best first; `full` tells that the index may know more. `searched` counts members.
// params: index: str, queries: list[str], generation: str, fetched: int, most: int
// returns: searched: int, found: list[dict]
// mode: read
CALL () {
  MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
  WHERE p.level = 0
  RETURN sum(COUNT { (p)<-[:PGS_IN]-() }) AS searched
}
CALL () {
  UNWIND range(0, size($queries) - 1) AS wanted
  CALL (wanted) {
    CALL db.index.fulltext.queryNodes($index, $queries[wanted], {limit: $fetched})
    YIELD node, score
    OPTIONAL MATCH (node)-[m:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
    WHERE p.level = 0
    WITH node, score, p.id AS partition, m.rank AS rank
    ORDER BY score DESC, partition, rank
    RETURN count(*) >= $fetched AS full, count(rank) AS count,
           collect(CASE WHEN rank IS NOT NULL THEN elementId(node) END)[..$most] AS nodes
  }
  RETURN collect({wanted: wanted, count: count, full: full, nodes: nodes}) AS found
}
RETURN searched, found
