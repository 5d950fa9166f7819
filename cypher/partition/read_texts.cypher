// Text of a partition's members, streamed, heaviest first.
// params: partition, text
// returns: rank, text
// mode: read
MATCH (:PgsPartition {uid: $partition})<-[m:PGS_IN]-(n)
RETURN m.rank AS rank, [property IN $text | n[property]] AS text
ORDER BY rank
