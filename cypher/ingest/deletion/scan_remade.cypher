// Every text of what is made again when it is missing: stored replies, extractions, skeletons, and
// descriptions of partitions. Strings have at least `least` characters.
// params: least: int
// returns: element_id: str, labels: list[str], id: str, values: list[list[any]]
// mode: read
// language: 5, 25
MATCH (n:PgsReply|PgsExtraction|PgsSkeleton|PgsPartition)
WITH n, [key IN keys(n) WHERE n[key] IS :: STRING NOT NULL AND size(n[key]) >= $least
         OR n[key] IS :: LIST<STRING NOT NULL> NOT NULL] AS keys
WHERE keys <> []
RETURN elementId(n) AS element_id, labels(n) AS labels,
       coalesce(toStringOrNull(n.id), toStringOrNull(n.key), elementId(n)) AS id,
       [key IN keys | [key, n[key]]] AS values
