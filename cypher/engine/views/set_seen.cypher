// Add nodes to a view and remove others, unless another process has changed the view since
// `version`. The view is locked before its version is read.
// params: id: str, version: int, added: list[int], removed: list[int]
// returns: version: int
// mode: write
// locks: graph
// sees: links
MATCH (v:PgsView {id: $id})
SET v.checked_at = datetime()
WITH v WHERE v.version = $version
SET v.version = $version + 1, v.token = null
WITH v
CALL (v) {
  UNWIND $removed AS id
  MATCH (n) WHERE id(n) = id
  MATCH (n)-[r:PGS_SEEN]->(v)
  DELETE r
}
CALL (v) {
  UNWIND $added AS id
  MATCH (n) WHERE id(n) = id
  CREATE (n)-[:PGS_SEEN]->(v)
}
RETURN v.version AS version
