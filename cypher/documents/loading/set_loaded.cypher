// Make a complete load the content of its graph, all in one transaction: what is gone from
// the file goes, nodes with a known id stay the same nodes with new content (so that what
// points to them still does), new ones come into sight. Nothing happens a second time, and nothing
// to a graph of documents that came in between: then it is not finished.
// params: graph: graph, load: str, scope: dict
// returns: finished: bool, removed: int?, kept: int?, added: int?
// mode: data
// sees: documents
MATCH (l:PgsLoad {graph: $graph})
SET l.moved_at = datetime()
WITH l WHERE l.load = $load
WITH l, EXISTS { (w:PgsIngest {graph: $graph}) WHERE w.expires_at > datetime() }
        OR EXISTS { (d:LoadedNode {graph: $graph}) WHERE d:Document } AS documents
CALL (l, documents) {
  WITH l WHERE l.finished_at IS NULL AND NOT documents
  CALL (l) {
    MATCH (old:LoadedNode {graph: $graph})
    WHERE NOT EXISTS { (:PgsStaged {pgs_load: $load, id: old.id}) }
    DETACH DELETE old
    RETURN count(*) AS removed
  }
  CALL (l) {
    MATCH (:LoadedNode {graph: $graph})-[r]->(:LoadedNode {graph: $graph})
    DELETE r
    RETURN count(*) AS unbound
  }
  CALL (l) {
    MATCH (s:PgsStaged {pgs_load: $load})-[r]->(t:PgsStaged {pgs_load: $load})
    OPTIONAL MATCH (a:LoadedNode {graph: $graph, id: s.id})
    OPTIONAL MATCH (b:LoadedNode {graph: $graph, id: t.id})
    WITH r, s, t, a, b WHERE a IS NOT NULL OR b IS NOT NULL
    WITH r, coalesce(a, s) AS source, coalesce(b, t) AS target
    CREATE (source)-[c:$(type(r))]->(target)
    SET c = properties(r)
    DELETE r
    RETURN count(*) AS rebound
  }
  CALL (l) {
    MATCH (old:LoadedNode {graph: $graph})
    MATCH (s:PgsStaged {pgs_load: $load, id: old.id})
    WITH old, s, s.pgs_labels AS labels
    SET old = properties(s), old += $scope, old.graph = $graph
    REMOVE old.pgs_load, old.pgs_labels
    REMOVE old:$([label IN labels(old) WHERE NOT label IN labels + 'LoadedNode'])
    SET old:$(labels)
    DETACH DELETE s
    RETURN count(*) AS kept
  }
  CALL (l) {
    MATCH (s:PgsStaged {pgs_load: $load})
    SET s:LoadedNode, s:$(s.pgs_labels), s += $scope, s.graph = $graph
    REMOVE s:PgsStaged, s.pgs_load, s.pgs_labels
    RETURN count(*) AS added
  }
  SET l.removed = removed, l.kept = kept, l.added = added, l.finished_at = datetime()
  RETURN count(*) AS published
}
RETURN l.finished_at IS NOT NULL AS finished, l.removed AS removed, l.kept AS kept, l.added AS added
