// A node of a view with what a sweep shows of it, its other properties, and its place in the
// current generation of a graph. No row if it is gone, or not of the view. Vectors are left out,
// as are the properties that are text, title, or hidden; a longer value is cut to `characters`, or
// to `items`.
// The current generation is found as in partitioning/read_current.
// params: graph: str, node: str, labels: list[str], text: list[str], title: str, key: str,
//   weight: str, hidden: list[str], characters: int, items: int, most: int
// returns: element_id: str, labels: list[str], text: list[any], title: any, key: any, weight: any,
//   property_count: int, properties: list[list[any]], place: dict?
// mode: read
// language: 5, 25
MATCH (n) WHERE elementId(n) = $node
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
UNWIND [null] + keys(n) AS name
WITH n, name ORDER BY name
WITH n, [found IN collect(name) WHERE NOT found IN $text AND NOT found IN $hidden
         AND found <> $title
         AND NOT (n[found] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
                  AND size(n[found]) >= 32)] AS names
OPTIONAL MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  OPTIONAL MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
RETURN elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | n[property]] AS text, n[$title] AS title, n[$key] AS key,
       n[$weight] AS weight, size(names) AS property_count,
       [found IN names[..$most] | [found,
         CASE WHEN n[found] IS :: STRING NOT NULL THEN left(n[found], $characters + 1)
              WHEN n[found] IS :: LIST<ANY> NOT NULL THEN n[found][..$items]
              ELSE n[found] END]] AS properties,
       head([(n)-[m:PGS_IN]->(p:PgsPartition) WHERE p.level = 0
                                                   AND EXISTS { (p)-[:PGS_PART_OF]->(c) }
             | {partition: p.id, label: p.label, rank: m.rank}]) AS place
