// How many nodes of some partitions hold their most frequent words.
// params: uids: list[str]
// returns: uid: str, words: bytes
// mode: read
UNWIND $uids AS uid
MATCH (p:PgsPartition {uid: uid})
RETURN uid, p.words AS words
