// Close the record of a job with its outcome and figures, even if it was marked as killed before.
// params: id: str, properties: dict, generation: str?
// returns: finished_at: str
// mode: write
MATCH (j:PgsJob {id: $id})
SET j += $properties, j.finished_at = coalesce(j.finished_at, datetime.realtime('Z')),
    j.generation = $generation, j.updated_at = datetime.realtime('Z')
WITH j
OPTIONAL MATCH (c:PgsGeneration {id: $generation})
FOREACH (made IN CASE WHEN c IS NULL THEN [] ELSE [c] END | MERGE (j)-[:PGS_OF]->(made))
RETURN toString(j.finished_at) AS finished_at
