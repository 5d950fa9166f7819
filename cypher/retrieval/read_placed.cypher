// Members of partitions by rank; a place is the uid of a partition with the ranks to read. `most`
// cuts each text to so many characters, which is enough for a title.
// params: places: list[dict], text: list[str], title: str, key: str, most: int?
// returns: partition: int, rank: int, element_id: str, labels: list[str], text: list[any],
//   title: any, key: any
// mode: read
// language: 5, 25
UNWIND $places AS place
MATCH (p:PgsPartition {uid: place.partition})<-[m:PGS_IN]-(n)
WHERE m.rank IN place.ranks
RETURN p.id AS partition, m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text |
        CASE WHEN n[property] IS :: STRING NOT NULL AND $most IS NOT NULL
             THEN left(n[property], $most)
             ELSE n[property] END] AS text,
       n[$title] AS title, n[$key] AS key
