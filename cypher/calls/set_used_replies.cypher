// Record that replies were used, and delete the private replies of a finished run.
// params: keys: list[str], run: str
// returns: used: int
// mode: write
// language: 5, 25
CALL () {
  UNWIND $keys AS wanted
  MATCH (r:PgsReply {key: wanted})
  SET r.used_at = datetime()
  RETURN count(r) AS used
}
CALL () {
  MATCH (r:PgsReply {run: $run}) WHERE r.private
  DELETE r
}
RETURN used
