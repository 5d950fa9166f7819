// Link pairs of nodes of a view as analogies of one making. They count only when that making is
// made current. Nodes that are gone or have left the view are not linked.
// params: graph: graph, making: str, labels: list[str], rows: list[dict], scope: dict, view: str?
// returns: written: int
// mode: write
// locks: graph
// sees: nodes
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.first
MATCH (b) WHERE elementId(b) = row.second
WITH row, a, b
WHERE all(n IN [a, b] WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
      AND all(k IN keys($scope) WHERE n[k] = $scope[k])
      AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) }))
CREATE (a)-[:PGS_ISOMORPHIC {
  delta: row.delta, skeleton: row.skeleton, raw: row.raw, graph: $graph, making: $making
}]->(b)
RETURN count(*) AS written
