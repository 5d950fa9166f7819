// Create the record of a job that starts.
// params: id: str, graph: graph, kind: str, holder: str, options: str
// returns: started_at: str
// mode: write
MERGE (j:PgsJob {id: $id})
ON CREATE SET j.graph = $graph, j.kind = $kind, j.holder = $holder, j.options = $options,
              j.outcome = 'running', j.started_at = datetime.realtime('Z')
SET j.updated_at = datetime.realtime('Z')
RETURN toString(j.started_at) AS started_at
