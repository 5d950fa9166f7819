// Some members of a generation by partition and rank, with what their title comes from: long
// texts are cut, since a title is at most one line.
// params: generation: str, places: list[list[int]], text: list[str], title: str, key: str
// returns: partition: int, rank: int, element_id: str, labels: list[str], text: list[any],
//   title: any, key: any
// mode: read
UNWIND $places AS place
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {id: place[0], level: 0})
MATCH (p)<-[m:PGS_IN {rank: place[1]}]-(n)
RETURN p.id AS partition, m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text |
        CASE WHEN n[property] IS :: STRING NOT NULL THEN left(n[property], 2000)
             ELSE n[property] END] AS text,
       n[$title] AS title, n[$key] AS key
