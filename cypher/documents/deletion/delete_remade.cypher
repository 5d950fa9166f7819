// Delete replies and descriptions that can be made again.
// params: ids: list[str]
// returns: replies: int, descriptions: int
// mode: write
// sees: links
UNWIND $ids AS id
MATCH (n) WHERE elementId(n) = id AND n:PgsReply|PgsExtraction|PgsSkeleton
WITH n, n:PgsSkeleton AS skeleton
DETACH DELETE n
RETURN sum(CASE WHEN skeleton THEN 0 ELSE 1 END) AS replies,
       sum(CASE WHEN skeleton THEN 1 ELSE 0 END) AS descriptions
