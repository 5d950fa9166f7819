// Record the outcome of a run, and update the weights of the nodes and triplets that it showed. A
// sweep run showed the nodes that its answer, findings, and flags cite, and the triplets between
// nodes that one of these cites. The node of a thesis cites all nodes of the answer, so
// `thesis_names` lists the nodes that the thesis itself cites. The run of a search showed what its
// prompt did.
// A first outcome becomes the latest outcome of each weight: weight = alpha * score + (1 - alpha) *
// weight. `place` on PGS_RATED is its number among the outcomes of the weight. A replaced outcome
// is corrected exactly: each later outcome has multiplied its part by 1 - alpha, so alpha * (1 -
// alpha) ^ (later outcomes) times the difference of both scores is added.
// Feedback takes turns, by a lock on one node: no weight is read while other feedback changes it,
// and two transactions cannot deadlock. This lock and the lock of the run are taken before anything
// is read. `dead_holder` is the holder of the run if its process has died. `cited` counts the cited
// nodes that still exist. No row if the run was deleted.
// params: run: str, dead_holder: str, outcome: str, replace: bool, scores: dict, alpha: float,
//   start: float, types: list[str], thesis_names: list[str]
// returns: state: str, former: str?, nodes: int, triplets: int, cited: int
// mode: write
// locks: graph
// sees: links
MERGE (turn:PgsMeta {id: 'feedback'})
SET turn.checked_at = true REMOVE turn.checked_at
WITH turn
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r, r.outcome AS former
WITH r, former,
     CASE
       WHEN r.status = 'running' AND r.holder <> $dead_holder THEN 'running'
       WHEN r.details IS NULL THEN 'unanswered'
       WHEN former IS NULL THEN 'new'
       WHEN former = $outcome THEN 'same'
       WHEN $replace THEN 'replaced'
       ELSE 'refused'
     END AS state
FOREACH (_ IN CASE WHEN state IN ['new', 'replaced'] THEN [1] ELSE [] END |
  SET r.outcome = $outcome, r.rated_at = datetime())
WITH r, former, state, COLLECT {
  MATCH (r)<-[:PGS_FROM]-(b:PgsThesis|PgsConnection|PgsConvergence) RETURN b
  UNION
  MATCH (r)-[:PGS_SWEPT]->(:PgsSweep)<-[:PGS_FROM]-(b:PgsFinding|PgsFlag) RETURN b
} AS bullets
CALL (r, state, bullets) {
  WITH r, bullets WHERE state = 'new'
  CALL (r, bullets) {
    UNWIND bullets AS b
    MATCH (b)-[:PGS_CITES]->(n)
    RETURN n
    UNION
    MATCH (r)-[:PGS_SHOWED]->(n) WHERE NOT n:PgsTriplet
    RETURN n
  }
  WITH DISTINCT r, n
  MERGE (w:PgsWeight)-[:PGS_ABOUT]->(n)
  ON CREATE SET w.weight = $start, w.count = 0
  SET w.weight = $alpha * $scores[$outcome] + (1 - $alpha) * w.weight, w.count = w.count + 1
  MERGE (r)-[k:PGS_RATED]->(w) SET k.place = w.count
}
CALL (r, state, bullets) {
  WITH r, bullets WHERE state = 'new' AND NOT EXISTS { (r)-[:PGS_SHOWED]->() }
  UNWIND bullets AS b
  MATCH (b)-[c:PGS_CITES]->(n)
  WHERE NOT b:PgsThesis OR 'P' + toString(c.partition) + ':' + c.alias IN $thesis_names
  WITH r, b, collect(DISTINCT n) AS cited
  UNWIND cited AS s
  UNWIND cited AS o
  WITH DISTINCT r, s, o WHERE s <> o
  MATCH (s)-[e]->(o)
  WHERE CASE size($types) WHEN 0 THEN NOT type(e) STARTS WITH 'PGS_' ELSE type(e) IN $types END
  WITH DISTINCT r, s, type(e) AS type, o
  MERGE (s)<-[:PGS_SOURCE]-(t:PgsTriplet {type: type})-[:PGS_TARGET]->(o)
  SET t.weight = $alpha * $scores[$outcome] + (1 - $alpha) * coalesce(t.weight, $start),
      t.count = coalesce(t.count, 0) + 1
  MERGE (r)-[k:PGS_RATED]->(t) SET k.place = t.count
}
CALL (r, state) {
  WITH r WHERE state = 'new'
  MATCH (r)-[:PGS_SHOWED]->(t:PgsTriplet)
  WITH DISTINCT r, t
  SET t.weight = $alpha * $scores[$outcome] + (1 - $alpha) * coalesce(t.weight, $start),
      t.count = coalesce(t.count, 0) + 1
  MERGE (r)-[k:PGS_RATED]->(t) SET k.place = t.count
}
CALL (r, state, former) {
  WITH r, former WHERE state = 'replaced'
  MATCH (r)-[k:PGS_RATED]->(w)
  SET w.weight = w.weight + $alpha * (1 - $alpha) ^ (w.count - k.place)
                            * ($scores[$outcome] - $scores[former])
}
RETURN state, former,
       COUNT { (r)-[:PGS_RATED]->(:PgsWeight)-[:PGS_ABOUT]->() } AS nodes,
       COUNT { (r)-[:PGS_RATED]->(t:PgsTriplet)
               WHERE EXISTS { (t)-[:PGS_SOURCE]->() } AND EXISTS { (t)-[:PGS_TARGET]->() } } AS triplets,
       COUNT {
         UNWIND bullets AS b MATCH (b)-[:PGS_CITES]->(n) RETURN n
         UNION
         MATCH (r)-[:PGS_SHOWED]->(n) WHERE NOT n:PgsTriplet RETURN n
       } AS cited
