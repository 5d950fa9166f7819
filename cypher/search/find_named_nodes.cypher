// Some members of partitions, in the order of these, that have one of some labels or a relationship
// of one of some types.
// params: partitions: list[str], labels: list[str], types: list[str], most: int
// returns: element_id: str
// mode: read
UNWIND $partitions AS uid
MATCH (:PgsPartition {uid: uid})<-[:PGS_IN]-(n)
WHERE any(label IN labels(n) WHERE label IN $labels)
   OR (size($types) > 0 AND EXISTS { (n)-[:$any($types)]-() })
RETURN elementId(n) AS element_id LIMIT $most
