// The element ids of those cited nodes that are still members of their partitions. A node that was
// deleted since may have left its element id to another one.
// params: generation: str, cited: list[dict], scope: dict, view: str?
// returns: element_ids: list[str]
// mode: read
// sees: nodes
UNWIND $cited AS row
MATCH (n) WHERE elementId(n) = row.element_id AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
MATCH (n)-[:PGS_IN {rank: row.rank}]->(p:PgsPartition {id: row.partition})-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE p.level = 0
RETURN collect(DISTINCT row.element_id) AS element_ids
