// A sign of life from a job that is running.
// params: id
// returns: id
// mode: write
MATCH (j:PgsJob {id: $id})
SET j.updated_at = datetime.realtime('Z')
RETURN j.id AS id
