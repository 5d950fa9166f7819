// Publish some documents, all in one transaction: a reader sees each either as it was or as it is
// now. Chunks and entities that stay are the same nodes. Nothing happens for a writer who lost the
// right to write. A transaction may have several publications: only the `last` one locks that right,
// since it could not be renewed until the commit. `renamed` are nodes that take the ids of others, all
// at once, and only the first time that this publication is sent. `unbound` are chunks whose mentions
// are replaced, and `rebound` spellings whose mentions get another entity. An entity whose fragments
// are long keeps its description while they are the same, and else waits for one by `describer`;
// without it, for one by the model that described it before. A vector goes with the text that it
// stands for, in the property `vector` of relations; `moved` are chunks with new ids. `type_labels`
// are the types of entities that are labels.
// params: graph: graph, holder: str, publication: str, renamed: list[dict], labels: list[str],
//   gone: list[str], unbound: list[str], rebound: list[dict],
//   dropped: list[dict], vanished: list[str], documents: list[dict], chunks: list[dict],
//   follows: list[list[str]], entities: list[dict], mentions: list[dict], relations: list[dict],
//   named: list[dict], unnamed: list[dict], ruled: list[dict], unruled: list[str],
//   describer: str?, vector: str, moved: list[dict], last: bool, type_labels: list[str],
//   scope: dict
// returns: held: bool
// mode: data
// plan: once
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
FOREACH (_ IN CASE WHEN $last THEN [1] ELSE [] END | SET w.moved_at = datetime())
WITH w, coalesce(w.publication = $publication, false) AS again
WHERE w.holder = $holder
FOREACH (_ IN CASE WHEN $last THEN [1] ELSE [] END | SET w.publication = $publication, w.type_labels = $type_labels)
WITH again
CALL (again) {
  UNWIND CASE WHEN again THEN [] ELSE $renamed END AS row
  MATCH (e:LoadedNode {graph: $graph, id: row.source})
  SET e.id = 'renamed ' + row.target
  REMOVE e:$(row.without)
}
CALL () {
  UNWIND $renamed AS row
  MATCH (e:LoadedNode {graph: $graph, id: 'renamed ' + row.target})
  SET e.id = row.target
}
CALL () {
  UNWIND $unbound AS id
  MATCH (:LoadedNode {graph: $graph, id: id})<-[m:MENTIONED_IN]-(:`__Entity__`)
  DELETE m
}
CALL () {
  UNWIND $rebound AS row
  MERGE (t:LoadedNode {graph: $graph, id: row.target})
  WITH row, t
  MATCH (:LoadedNode {graph: $graph, id: row.source})-[m:MENTIONED_IN {type: row.type}]->(c:Chunk)
  WHERE m.name IN row.names
  CREATE (t)-[n:MENTIONED_IN]->(c)
  SET n = properties(m)
  DELETE m
}
CALL () {
  UNWIND $dropped AS row
  MATCH (s:LoadedNode {graph: $graph, id: row.source})
  MATCH (t:LoadedNode {graph: $graph, id: row.target})
  CALL (row, s, t) {
    MATCH (s)-[r:RELATES {rel_type: row.rel_type}]->(t)
    DELETE r
  }
}
CALL () {
  UNWIND $moved AS row
  MATCH (old:LoadedNode {graph: $graph, id: row.former})
  WHERE old.hash = row.hash AND old.embedded_by IS NOT NULL
  MERGE (c:LoadedNode {graph: $graph, id: row.id})
  SET c.embedding = old.embedding, c.embedded_by = old.embedded_by
}
CALL () {
  UNWIND $gone + $vanished + $unruled AS id
  MATCH (n:LoadedNode {graph: $graph, id: id})
  DETACH DELETE n
}
CALL () {
  UNWIND $documents AS row
  MERGE (d:LoadedNode {graph: $graph, id: row.id})
  SET d:Document, d += row, d += $scope, d.ingested_at = datetime()
}
CALL () {
  UNWIND $chunks AS row
  MERGE (c:LoadedNode {graph: $graph, id: row.properties.id})
  SET c:Chunk:$($labels), c += row.properties, c += $scope
  WITH c, row
  MATCH (d:LoadedNode {graph: $graph, id: row.document})
  MERGE (d)-[:PART_OF]->(c)
}
CALL () {
  UNWIND $documents AS row
  MATCH (:LoadedNode {graph: $graph, id: row.id})-[:PART_OF]->(c:Chunk)-[n:NEXT_CHUNK]->(next:Chunk)
  WHERE next.index <> c.index + 1
  DELETE n
}
CALL () {
  UNWIND $follows AS pair
  MATCH (a:LoadedNode {graph: $graph, id: pair[0]})
  MATCH (b:LoadedNode {graph: $graph, id: pair[1]})
  MERGE (a)-[:NEXT_CHUNK]->(b)
}
CALL () {
  UNWIND $entities AS row
  MERGE (e:LoadedNode {graph: $graph, id: row.properties.id})
  WITH e, row, e.description AS described, e.undescribed AS undescribed, e.described_by AS model,
       coalesce(e.fragments_hash = row.properties.fragments_hash, false) AS same,
       e.name AS name
  SET e:`__Entity__`:$(row.labels), e += row.properties, e += $scope
  REMOVE e:$(row.without)
  FOREACH (_ IN CASE
    WHEN row.without = [] AND name = e.name
         AND (same OR coalesce(described, '') = coalesce(e.description, '')) THEN []
    ELSE [1]
  END | REMOVE e.embedding, e.embedded_by)
  WITH e, row, described, undescribed, model, same
  WHERE row.properties.fragments_hash IS NOT NULL
  SET e.description = CASE WHEN same THEN described ELSE row.properties.description END,
      e.described_by = CASE WHEN same THEN model END,
      e.undescribed = CASE
        WHEN same THEN undescribed
        ELSE coalesce($describer, undescribed, model)
      END
}
CALL () {
  UNWIND $mentions AS row
  MATCH (e:LoadedNode {graph: $graph, id: row.entity})
  MATCH (c:LoadedNode {graph: $graph, id: row.chunk})
  CREATE (e)-[m:MENTIONED_IN]->(c)
  SET m = row.properties
}
CALL () {
  UNWIND $relations AS row
  MATCH (s:LoadedNode {graph: $graph, id: row.source})
  MATCH (t:LoadedNode {graph: $graph, id: row.target})
  MERGE (s)-[r:RELATES {rel_type: row.properties.rel_type}]->(t)
  WITH r, row, r.fact AS fact
  SET r += row.properties
  WITH r WHERE fact <> r.fact
  REMOVE r.embedded_by
  SET r[$vector] = null
}
CALL () {
  UNWIND $unnamed AS row
  MATCH (n:PgsName {graph: $graph, key: row.key})
  WHERE n.type = row.type
  DELETE n
}
CALL () {
  UNWIND $named AS row
  MERGE (n:PgsName {graph: $graph, key: row.key, type: row.type})
  SET n += row
}
CALL () {
  UNWIND $ruled AS row
  MERGE (r:LoadedNode {graph: $graph, id: row.id})
  SET r:`__Ruling__`, r += row, r += $scope
}
RETURN true AS held
