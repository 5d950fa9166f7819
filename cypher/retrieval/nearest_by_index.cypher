// The nodes nearest to a vector, best first, within a view: candidates by a vector index, which
// holds rounded vectors, and then the exact cosine, mapped to 0 to 1 as the index does.
// params: index: str, candidates: int, k: int, vector: list[float], embedding: str,
//   labels: list[str], text: list[str], title: str, key: str
// returns: element_id: str, labels: list[str], text: list[any], title: any, key: any, score: float
// mode: read
// language: 5, 25
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node
WITH * WHERE CASE size($labels)
               WHEN 0 THEN none(label IN labels(node) WHERE label STARTS WITH 'Pgs')
               ELSE any(label IN labels(node) WHERE label IN $labels)
             END
WITH node, vector.similarity.cosine(node[$embedding], $vector) AS score
ORDER BY score DESC, elementId(node) LIMIT $k
RETURN elementId(node) AS element_id,
       [label IN labels(node) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | node[property]] AS text, node[$title] AS title, node[$key] AS key,
       score
ORDER BY score DESC, element_id
