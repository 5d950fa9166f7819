// Current nodes by their place in the partitions of a generation; `hash` is of their text when the
// partition was made.
// params: generation, partitions, ranks, title, key, text
// returns: partition, rank, hash, element_id, labels, title, key, text
// mode: read
UNWIND range(0, size($partitions) - 1) AS i
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {id: $partitions[i]})
WHERE p.level = 0
MATCH (p)<-[m:PGS_IN {rank: $ranks[i]}]-(n)
RETURN $partitions[i] AS partition, $ranks[i] AS rank, m.hash AS hash, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       n[$title] AS title, n[$key] AS key, [property IN $text | n[property]] AS text
