// The nodes that the synthesis of a run cites, if they still exist.
// params: run: str, scope: dict, view: str?
// returns: partition: int, alias: str, element_id: str
// mode: read
// sees: nodes
MATCH (:PgsThesis {id: $run + ':thesis'})-[c:PGS_CITES]->(n)
WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN c.partition AS partition, c.alias AS alias, elementId(n) AS element_id
ORDER BY partition, alias
