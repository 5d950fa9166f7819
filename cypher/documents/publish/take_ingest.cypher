// Become the writer of a graph's documents, unless another one than `former` still holds that right.
// params: graph: graph, holder: str, former: str, seconds: float
// returns: taken: bool, holder: str, expires_at: str
// mode: write
MERGE (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w, w.holder IS NULL OR w.holder IN [$holder, $former] OR w.expires_at <= datetime() AS free
CALL (w, free) {
  WITH w, free WHERE free
  SET w.holder = $holder, w.expires_at = datetime() + duration({milliseconds: toInteger(1000 * $seconds)})
}
RETURN w.holder = $holder AS taken, w.holder AS holder, toString(w.expires_at) AS expires_at
