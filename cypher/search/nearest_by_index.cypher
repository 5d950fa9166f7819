// The nodes nearest to a vector by a vector index, best first, within a view.
// params: index, k, vector, labels, text, title, key
// returns: element_id, labels, text, title, key, score
// mode: read
CALL db.index.vector.queryNodes($index, $k, $vector) YIELD node, score
WITH * WHERE CASE size($labels)
               WHEN 0 THEN none(label IN labels(node) WHERE label STARTS WITH 'Pgs')
               ELSE any(label IN labels(node) WHERE label IN $labels)
             END
RETURN elementId(node) AS element_id,
       [label IN labels(node) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | node[property]] AS text, node[$title] AS title, node[$key] AS key,
       score
ORDER BY score DESC, element_id
