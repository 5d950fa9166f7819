// Average length of each model's stored replies.
// params: models: list[str]
// returns: model: str, output_tokens: float
// mode: read
// language: 5, 25
MATCH (r:PgsReply)
WHERE r.model IN $models AND r.output_tokens > 0
RETURN r.model AS model, avg(r.output_tokens) AS output_tokens
