// Analogies between nodes of some partitions and nodes of other partitions of a generation: at most
// `most` for each partition, those with the largest difference. Only current analogies of the graph
// count, and only nodes that are still in its view.
// params: graph: graph, generation: str, partitions: list[int], labels: list[str], text:
//   list[dict], title: list[dict], key: list[dict], most: int, scope: dict, view: str?
// returns: partition: int, analogies: list[dict]
// mode: read
// sees: nodes
MATCH (a:PgsAnalogies {graph: $graph})
MATCH (g:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0 AND p.id IN $partitions
MATCH (p)<-[i:PGS_IN]-(n)-[r:PGS_ISOMORPHIC {making: a.making}]-(m)-[j:PGS_IN]->(q:PgsPartition)
WHERE q.level = 0 AND q.id <> p.id AND EXISTS { (q)-[:PGS_PART_OF]->(g) }
  AND all(x IN [n, m] WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(x) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(x) WHERE label IN $labels)
      END
      AND all(k IN keys($scope) WHERE x[k] = $scope[k])
      AND ($view IS NULL OR EXISTS { (x)-[:PGS_SEEN]->(:PgsView {id: $view}) }))
WITH p, i, m, r, q, j ORDER BY p.id, r.delta DESC, i.rank, q.id, j.rank
WITH p.id AS partition, collect({
  rank: i.rank, other: q.id,
  title: head([own IN $title WHERE own.label IN labels(m) + '' AND m[own.property] <> ''
               | m[own.property]]),
  key: head([own IN $key WHERE own.label IN labels(m) + '' AND m[own.property] <> ''
             | m[own.property]]),
  text: [own IN $text WHERE own.label IN labels(m) + '' | m[own.property]]
}) AS analogies
RETURN partition, analogies[..$most] AS analogies
