// The labels of some nodes and the types of their relationships, without those of this package. If
// `types` is empty, all types count.
// params: nodes: list[str], types: list[str]
// returns: element_id: str, names: list[str]
// mode: read
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted
RETURN elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] + COLLECT {
         MATCH (n)-[r]-()
         WHERE CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
         RETURN DISTINCT type(r)
       } AS names
