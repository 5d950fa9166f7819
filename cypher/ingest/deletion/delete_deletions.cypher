// Delete what was kept of deletions whose search has ended.
// params: graph: str, holder: str, uids: list[str]
// returns: held: bool
// mode: write
// language: 5, 25
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $uids AS uid
  MATCH (d:PgsDeletion {uid: uid})
  DETACH DELETE d
}
RETURN true AS held
