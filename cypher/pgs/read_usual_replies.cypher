// Average length of a model's accepted replies that are stored; no row if there are none. Only
// replies of one scope count, or those without a scope if `digest` is empty.
// params: model: str, digest: str
// returns: output_tokens: float
// mode: read
MATCH (r:PgsReply)
WHERE r.model = $model AND r.output_tokens > 0 AND r.error IS NULL
  AND coalesce(r.scope, '') = $digest
WITH avg(r.output_tokens) AS output_tokens
WHERE output_tokens IS NOT NULL
RETURN output_tokens
