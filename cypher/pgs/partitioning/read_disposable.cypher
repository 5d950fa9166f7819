// The partitions that only these generations have, and how many nodes are attached to each.
// params: generations: list[str]
// returns: uids: list[str], members: list[int]
// mode: read
// sees: links
MATCH (c:PgsGeneration)<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE c.id IN $generations
  AND NOT EXISTS { (p)-[:PGS_PART_OF]->(o:PgsGeneration) WHERE NOT o.id IN $generations }
WITH DISTINCT p, COUNT { (p)<-[:PGS_IN]-() } AS members WHERE members > 0
RETURN collect(p.uid) AS uids, collect(members) AS members
