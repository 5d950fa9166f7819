// The recorded sweeps of a run, or only that of one partition, with the cited nodes that still
// exist.
// params: run: str, partition: int?, scope: dict, view: str?
// returns: id: str, partition: int, sweep: dict, findings: list[dict], flags: list[dict],
//   absences: list[dict]
// mode: read
// sees: nodes
MATCH (:PgsRun {id: $run})-[:PGS_SWEPT]->(w:PgsSweep)
WHERE $partition IS NULL OR w.partition = $partition
RETURN w.id AS id, w.partition AS partition, w {.*} AS sweep,
       [(f:PgsFinding)-[:PGS_FROM]->(w) |
        f {.place, .text, .citations, .quotes, .doubts, cited: [(f)-[c:PGS_CITES]->(n)
          WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
            AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) }) |
          {alias: c.alias, element_id: elementId(n)}]}] AS findings,
       [(f:PgsFlag)-[:PGS_FROM]->(w) |
        f {.place, .text, .target, .citations, cited: [(f)-[c:PGS_CITES]->(n)
          WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
            AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) }) |
          {alias: c.alias, element_id: elementId(n)}]}] AS flags,
       [(a:PgsAbsence)-[:PGS_FROM]->(w) | a {.place, .text}] AS absences
ORDER BY partition
