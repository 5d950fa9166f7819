// The members of some partitions of a generation, with the hashes of their text, weight, and
// embedding then: one row per partition, the lists in parallel. The ids hold within one job.
// params: generation: str, partitions: list[int], scope: dict, view: str?
// returns: partition: int, ids: list[int], ranks: list[int], hashes: list[int], facts: list[int]
// mode: read
// sees: nodes
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)<-[m:PGS_IN]-(n)
WHERE p.id IN $partitions AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN p.id AS partition, collect(id(n)) AS ids, collect(m.rank) AS ranks,
       collect(m.hash) AS hashes, collect(m.facts) AS facts
