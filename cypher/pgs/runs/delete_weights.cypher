// Delete the weights that only runs of one graph have rated, and the weights rated by its runs
// whose nodes are gone. Other weights stay. Without any feedback, nothing happens. The lock that
// feedback takes is taken before anything is read.
// params: graph: graph
// returns: deleted: int
// mode: write
// locks: graph
// sees: links
MATCH (turn:PgsMeta {id: 'feedback'})
SET turn.checked_at = true REMOVE turn.checked_at
WITH turn
MATCH (:PgsSession {graph: $graph})<-[:PGS_RAN_IN]-(r:PgsRun)-[:PGS_RATED]->(w)
WITH w, count(r) AS own
WHERE own = w.count
   OR NOT EXISTS { (w)-[:PGS_ABOUT]->() }
      AND NOT (EXISTS { (w)-[:PGS_SOURCE]->() } AND EXISTS { (w)-[:PGS_TARGET]->() })
DETACH DELETE w
RETURN count(*) AS deleted
