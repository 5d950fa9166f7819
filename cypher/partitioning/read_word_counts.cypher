// How many nodes of some partitions hold their most frequent words, where that is stored.
// params: uids: list[str]
// returns: uid: str, words: bytes
// mode: read
// language: 5, 25
UNWIND $uids AS uid
MATCH (p:PgsPartition {uid: uid}) WHERE p.words IS NOT NULL
RETURN uid, p.words AS words
