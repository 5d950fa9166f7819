// Delete a stored graph with its lease and job records, after its generations and sessions.
// params: name: graph
// returns: deleted: int
// mode: write
OPTIONAL MATCH (o:PgsLease|PgsJob)
WHERE (o:PgsLease AND o.name = $name) OR (o:PgsJob AND o.graph = $name)
DETACH DELETE o
WITH count(*) AS _
MATCH (g:PgsGraph {name: $name})
DETACH DELETE g
RETURN count(*) AS deleted
