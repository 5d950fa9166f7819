// Current nodes by their place in the partitions of a generation; `hash` is of their text when the
// partition was made.
// params: generation: str, partitions: list[int], ranks: list[int], title: str, key: str,
//   text: list[str]
// returns: partition: int, rank: int, hash: int, element_id: str, labels: list[str], title: any,
//   key: any, text: list[any]
// mode: read
// language: 5, 25
UNWIND range(0, size($partitions) - 1) AS i
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {id: $partitions[i]})
WHERE p.level = 0
MATCH (p)<-[m:PGS_IN {rank: $ranks[i]}]-(n)
RETURN $partitions[i] AS partition, $ranks[i] AS rank, m.hash AS hash, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       n[$title] AS title, n[$key] AS key, [property IN $text | n[property]] AS text
