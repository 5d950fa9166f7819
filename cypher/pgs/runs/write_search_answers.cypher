// Write the answer of a search as nodes with links to the nodes that they cite, and to what the
// prompt showed, and replace an earlier answer of the run. `place` numbers the nodes and,
// separately, the relationships of the prompt from 0. A loaded node that has been deleted since is
// left out: another node may have its element id by now, but not its key. No row if the run was
// taken over or deleted. The lock of the run is taken before its holder is read.
// params: run: str, holder: str, thesis: dict, findings: list[dict], citations: list[dict],
//   nodes: list[dict], relationships: list[dict], scope: dict, view: str?
// returns: id: str
// mode: write
// locks: graph
// sees: nodes
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
SET r.updated_at = datetime()
WITH r
CALL (r) {
  MATCH (old:PgsThesis|PgsFinding)-[:PGS_FROM]->(r)
  DETACH DELETE old
}
CALL (r) {
  MATCH (r)-[old:PGS_SHOWED]->()
  DELETE old
}
MERGE (t:PgsThesis {id: $thesis.id})
SET t.text = $thesis.text
MERGE (t)-[:PGS_FROM]->(r)
FOREACH (row IN $findings |
  MERGE (f:PgsFinding {id: row.id})
  SET f.text = row.text, f.place = row.place, f.supported = row.supported, f.misquoted = row.misquoted,
      f.citations = row.citations, f.quotes = row.quotes,
      f.doubts = row.doubts
  MERGE (f)-[:PGS_FROM]->(r))
WITH r
CALL (r) {
  UNWIND $nodes AS row
  MATCH (n) WHERE elementId(n) = row.element_id AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND (NOT n:LoadedNode OR row.key = row.element_id
         OR any(name IN keys(n) WHERE trim(toStringOrNull(n[name])) = row.key))
  MERGE (r)-[w:PGS_SHOWED {place: row.place}]->(n)
  SET w.hash = row.hash
}
CALL (r) {
  UNWIND $relationships AS row
  MATCH (s) WHERE elementId(s) = row.source AND all(k IN keys($scope) WHERE s[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (s)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  MATCH (o) WHERE elementId(o) = row.target AND all(k IN keys($scope) WHERE o[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  MERGE (s)<-[:PGS_SOURCE]-(t:PgsTriplet {type: row.type})-[:PGS_TARGET]->(o)
  MERGE (r)-[:PGS_SHOWED {place: row.place}]->(t)
}
CALL (r) {
  UNWIND $citations AS row
  MATCH (r)-[:PGS_SHOWED]->(n) WHERE elementId(n) = row.element_id
  MATCH (s:PgsThesis|PgsFinding {id: row.id})
  MERGE (s)-[c:PGS_CITES {alias: row.alias}]->(n)
  SET c.rank = row.rank, c.partition = 0
}
RETURN r.id AS id
