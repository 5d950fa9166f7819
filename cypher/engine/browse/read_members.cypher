// Members of a partition of a graph's current generation, heaviest first, from those after the
// rank `after` on; only those that are in the view now. What a title is made of is cut to `head`
// characters. No row without such a partition.
// The current generation is found as in partitioning/read_current.
// params: graph: graph, partition: int, labels: list[str], after: int, limit: int, text:
//   list[dict], title: list[dict], key: list[dict], weight: str, head: int, scope: dict, view: str?
// returns: size: int, members: list[dict]
// mode: read
// sees: nodes
MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
MATCH (c)<-[:PGS_PART_OF]-(p:PgsPartition {id: $partition})
WHERE p.level = 0
RETURN p.size AS size, COLLECT {
  MATCH (p)<-[i:PGS_IN]-(m)
  WHERE i.rank > $after
    AND CASE size($labels)
          WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
          ELSE any(label IN labels(m) WHERE label IN $labels)
        END
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  WITH i, m ORDER BY i.rank LIMIT $limit
  RETURN {
    rank: i.rank, element_id: elementId(m), weight: m[$weight],
    labels: [label IN labels(m) WHERE NOT label STARTS WITH 'Pgs'],
    title: head([own IN $title WHERE own.label IN labels(m) + '' AND m[own.property] <> '' |
      CASE WHEN m[own.property] IS :: STRING NOT NULL THEN left(m[own.property], $head)
           ELSE m[own.property] END]),
    key: head([own IN $key WHERE own.label IN labels(m) + '' AND m[own.property] <> '' |
      CASE WHEN m[own.property] IS :: STRING NOT NULL THEN left(m[own.property], $head)
           ELSE m[own.property] END]),
    text: [own IN $text WHERE own.label IN labels(m) + '' |
      CASE WHEN m[own.property] IS :: STRING NOT NULL THEN left(m[own.property], $head)
           ELSE m[own.property] END]
  }
} AS members
