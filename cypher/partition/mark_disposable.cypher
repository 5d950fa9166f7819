// Give up generations of a graph that nobody needs: unfinished ones older than a day, and
// complete ones beyond the newest `keep` that are not current, that no sweep refers to, and
// that no run of the last day is on. Takes the locks before it looks, so that a run that
// begins now comes wholly before or not at all.
// params: graph, keep
// returns: ids
// mode: write
MATCH (g:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
SET c.checked_at = datetime()
WITH g, c ORDER BY c.created_at DESC
WITH g, collect(c) AS all
WITH g, all, [c IN all WHERE c.status = 'complete'] AS complete
WITH g,
     [c IN all WHERE c.status <> 'complete' AND c.created_at < datetime() - duration('P1D')]
     + [c IN all WHERE c.status = 'abandoned'] + complete[$keep..] AS candidates
UNWIND candidates AS c
WITH DISTINCT g, c
WHERE NOT (g)-[:PGS_CURRENT]->(c)
  AND NOT EXISTS { (c)<-[:PGS_PART_OF]-(:PgsPartition)<-[:PGS_READ]-(:PgsSweep) }
  AND NOT EXISTS {
    (c)<-[:PGS_ON]-(r:PgsRun {status: 'running'})
    WHERE r.updated_at > datetime() - duration('P1D')
  }
SET c.status = 'abandoned'
RETURN collect(c.id) AS ids
