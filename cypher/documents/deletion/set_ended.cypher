// End deletions whose search has ended. What they looked for stays until no run or job is in progress
// that may have read it before.
// params: graph: graph, holder: str, uids: list[str]
// returns: held: bool
// mode: write
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $uids AS uid
  MATCH (d:PgsDeletion {uid: uid})
  SET d.ended_at = datetime()
}
RETURN true AS held
