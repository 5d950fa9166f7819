// Some cells of text indexes.
// params: uids: list[str]
// returns: uid: str, data: bytes
// mode: read
UNWIND $uids AS uid
MATCH (k:PgsPostings {uid: uid})
RETURN uid, k.data AS data
