// Stored replies by key.
// params: keys
// returns: key, text, model
// mode: read
UNWIND $keys AS wanted
MATCH (r:PgsReply {key: wanted})
RETURN r.key AS key, r.text AS text, r.model AS model
