// Record a sign of life of a running job.
// params: id: str
// returns: id: str
// mode: write
MATCH (j:PgsJob {id: $id})
SET j.updated_at = datetime.realtime('Z')
RETURN j.id AS id
