// Mark generations of a graph as abandoned that are no longer needed.
// These are complete ones beyond the newest `keep` that are not current, not read by a sweep, and
// not used by a run of the last day that is running or may be resumed. A partition that a newer
// generation shares is safe there. Takes the locks before it looks, so that a run that begins now
// comes wholly before or not at all. Generations abandoned earlier are always included: no reader
// ever saw them, and what they share is safe in the generation it came from.
// params: graph: graph, keep: int
// returns: ids: list[str]
// mode: write
MATCH (g:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
SET c.checked_at = datetime()
WITH g, c ORDER BY c.created_at DESC
WITH g, collect(c) AS generations
WITH g, [c IN generations WHERE c.status = 'abandoned']
        + [c IN generations WHERE c.status = 'complete'][$keep..] AS candidates
UNWIND candidates AS c
WITH g, c
WHERE c.status = 'abandoned' OR NOT (g)-[:PGS_CURRENT]->(c)
  AND NOT EXISTS {
    (c)<-[:PGS_PART_OF]-(p:PgsPartition)<-[:PGS_READ]-(:PgsSweep)
    WHERE NOT EXISTS {
      (p)-[:PGS_PART_OF]->(o:PgsGeneration)
      WHERE o.status = 'complete' AND o.created_at > c.created_at
    }
  }
  AND NOT EXISTS {
    (c)<-[:PGS_ON]-(r:PgsRun)
    WHERE r.status <> 'complete' AND r.updated_at > datetime() - duration('P1D')
  }
SET c.status = 'abandoned'
RETURN collect(c.id) AS ids
