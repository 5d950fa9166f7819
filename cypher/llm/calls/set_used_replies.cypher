// Record that replies were used, and delete the private replies of a finished run, and purchases of
// a day ago, for which no run can wait any more.
// params: keys: list[str], run: str
// returns: used: int
// mode: write
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
CALL () {
  MATCH (p:PgsPurchase) WHERE p.claimed_at < datetime() - duration('P1D')
  DELETE p
}
RETURN used
