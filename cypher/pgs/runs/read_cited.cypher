// The nodes that the synthesis of a run cites, if they still exist.
// params: run: str
// returns: partition: int, alias: str, element_id: str
// mode: read
MATCH (:PgsThesis {id: $run + ':thesis'})-[c:PGS_CITES]->(n)
RETURN c.partition AS partition, c.alias AS alias, elementId(n) AS element_id
ORDER BY partition, alias
