// The stored replies of a run, in the order in which they arrived: accepted replies, and rejected
// replies with their `error`. A text is cut to `most` characters; `size` is the length of the
// complete text in bytes.
// params: run: str, most: int
// returns: text: str, model: str, size: int, output_tokens: int, error: str?, partition: int?, number: int?, created_at: str
// mode: read
MATCH (y:PgsReply {run: $run})
RETURN left(y.text, $most) AS text, y.model AS model, y.size AS size,
       y.output_tokens AS output_tokens, y.error AS error, y.partition AS partition,
       y.place AS number, toString(y.created_at) AS created_at
ORDER BY y.created_at, y.key
