// Nodes of a partition between two ranks, heaviest first, with what a sweep shows of them: rank,
// element id, labels, texts, title, and key. In one row, because rows cost more than nodes.
// params: partition: str, first: int, last: int, text: list[str], title: str, key: str
// returns: members: list[list[any]]
// mode: read
// language: 5, 25
MATCH (:PgsPartition {uid: $partition})<-[m:PGS_IN]-(n)
WHERE $first <= m.rank < $last
WITH m.rank AS rank, n ORDER BY rank
RETURN collect([rank, elementId(n), [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'],
                [property IN $text | n[property]], n[$title], n[$key]]) AS members
