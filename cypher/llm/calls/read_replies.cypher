// Stored replies by key.
// params: keys: list[str]
// returns: key: str, text: str, model: str, counted: int?, proven: bool
// mode: read
UNWIND $keys AS wanted
MATCH (r:PgsReply {key: wanted})
RETURN r.key AS key, r.text AS text, r.model AS model, r.counted AS counted,
  r.proven AS proven
