// Nodes of a partition between two ranks, heaviest first, with what a sweep shows of them.
// params: partition, first, last, text, title, key
// returns: rank, element_id, labels, text, title, key
// mode: read
MATCH (:PgsPartition {uid: $partition})<-[m:PGS_IN]-(n)
WHERE $first <= m.rank < $last
RETURN m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | n[property]] AS text, n[$title] AS title, n[$key] AS key
ORDER BY rank
