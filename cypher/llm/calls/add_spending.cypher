// Add to what was spent on a day by all that have the same account. A figure may go down again, once
// a call turns out to cost less than it could. `more.unpriced` is 1 for a call without a price. The
// lock is taken before the figures are read.
// params: id: str, account: dict, more: dict
// returns: id: str
// mode: write
MERGE (d:PgsSpending {id: $id})
ON CREATE SET d += $account, d.runs = 0
SET d.checked_at = true REMOVE d.checked_at
SET d.calls = coalesce(d.calls, 0) + $more.calls,
    d.cached = coalesce(d.cached, 0) + $more.cached,
    d.input_tokens = coalesce(d.input_tokens, 0) + $more.input_tokens,
    d.output_tokens = coalesce(d.output_tokens, 0) + $more.output_tokens,
    d.cache_read_tokens = coalesce(d.cache_read_tokens, 0) + $more.cache_read_tokens,
    d.cache_write_tokens = coalesce(d.cache_write_tokens, 0) + $more.cache_write_tokens,
    d.cost = coalesce(d.cost, 0.0) + $more.cost,
    d.unpriced = coalesce(d.unpriced, 0) + $more.unpriced
RETURN d.id AS id
