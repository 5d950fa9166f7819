// Every text of what is made again when it is missing: stored replies, extractions, skeletons, and
// descriptions of partitions. Strings have at least `least` characters. Each value is read once and
// then judged: if its node is deleted in between, a second reading would find null.
// params: least: int
// returns: element_id: str, labels: list[str], id: str, values: list[list[any]]
// mode: read
MATCH (n:PgsReply|PgsExtraction|PgsSkeleton|PgsPartition)
WITH n, [pair IN [key IN keys(n) | [key, n[key]]]
         WHERE pair[1] IS :: STRING NOT NULL AND size(pair[1]) >= $least
            OR pair[1] IS :: LIST<STRING NOT NULL> NOT NULL] AS values
WHERE values <> []
RETURN elementId(n) AS element_id, labels(n) AS labels,
       coalesce(toStringOrNull(n.id), toStringOrNull(n.key), elementId(n)) AS id,
       values
