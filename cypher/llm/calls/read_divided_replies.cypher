// Stored replies to parts of prompts: their keys begin with the key of the whole.
// params: keys: list[str]
// returns: key: str, text: str, model: str, counted: int?, proven: bool
// mode: read
UNWIND $keys AS whole
MATCH (r:PgsReply)
WHERE r.key STARTS WITH whole
RETURN r.key AS key, r.text AS text, r.model AS model, r.counted AS counted,
  r.proven AS proven
