// Sweeps of a session that no synthesis has used, from runs that ended without an answer; runs in
// `given_up` count as ended. `current`: the run has the same generation, so the partition numbers
// in its flags are those of this generation. Cited nodes are given as in `read_sweeps`.
// params: session: str, run: str, given_up: list[str], generation: str, scope: dict, view: str?
// returns: id: str, run: str, partition: int, sweep: dict, current: bool, findings: list[dict],
//   flags: list[dict], absences: list[dict]
// mode: read
// sees: nodes
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)
      -[:PGS_READ]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE r.id <> $run AND (NOT r.status IN ['running', 'complete'] OR r.id IN $given_up)
  AND w.synthesized IS NULL AND w.status <> 'failed'
RETURN w.id AS id, r.id AS run, p.id AS partition, w {.*} AS sweep,
       EXISTS { (r)-[:PGS_ON]->(:PgsGeneration {id: $generation}) } AS current,
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
ORDER BY id
