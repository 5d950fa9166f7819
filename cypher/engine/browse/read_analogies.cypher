// Pairs of partitions of a graph's current generation that analogies link: how many, and the ends
// of the one with the largest difference. Only the current analogies of the graph count, and only
// nodes that are still in its view. Most links first. What a title is made of is cut to `head`
// characters.
// The current generation is found as in partitioning/read_current.
// params: graph: graph, labels: list[str], text: list[dict], title: list[dict], key: list[dict],
//   head: int, limit: int, scope: dict, view: str?
// returns: first: int, second: int, links: int, ends: list[dict]
// mode: read
// sees: nodes
MATCH (a:PgsAnalogies {graph: $graph})
MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
MATCH (n)-[r:PGS_ISOMORPHIC]->(m)
WHERE r.making = a.making
  AND all(x IN [n, m] WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(x) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(x) WHERE label IN $labels)
      END
      AND all(k IN keys($scope) WHERE x[k] = $scope[k])
      AND ($view IS NULL OR EXISTS { (x)-[:PGS_SEEN]->(:PgsView {id: $view}) }))
MATCH (n)-[i:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(c)
MATCH (m)-[j:PGS_IN]->(q:PgsPartition)-[:PGS_PART_OF]->(c)
WHERE p.level = 0 AND q.level = 0 AND p.id <> q.id
WITH r, i, j, CASE WHEN p.id < q.id THEN [p.id, q.id] ELSE [q.id, p.id] END AS pair,
     CASE WHEN p.id < q.id THEN [n, m] ELSE [m, n] END AS ends
ORDER BY r.delta DESC, i.rank, j.rank
WITH pair, count(*) AS links, collect(ends)[0] AS ends
ORDER BY links DESC, pair[0], pair[1] LIMIT $limit
RETURN pair[0] AS first, pair[1] AS second, links, [x IN ends | {
    element_id: elementId(x),
    labels: [label IN labels(x) WHERE NOT label STARTS WITH 'Pgs'],
    title: head([own IN $title WHERE own.label IN labels(x) + '' AND x[own.property] <> '' |
      CASE WHEN x[own.property] IS :: STRING NOT NULL THEN left(x[own.property], $head)
           ELSE x[own.property] END]),
    key: head([own IN $key WHERE own.label IN labels(x) + '' AND x[own.property] <> '' |
      CASE WHEN x[own.property] IS :: STRING NOT NULL THEN left(x[own.property], $head)
           ELSE x[own.property] END]),
    text: [own IN $text WHERE own.label IN labels(x) + '' |
      CASE WHEN x[own.property] IS :: STRING NOT NULL THEN left(x[own.property], $head)
           ELSE x[own.property] END]
  }] AS ends
