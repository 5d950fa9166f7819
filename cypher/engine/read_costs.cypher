// What was spent by day (UTC), task, graph, session, and models, since a day. `unpriced` counts what
// called a model without prices; its cost is not in the sum. The models of a run are known when it
// has ended.
// params: since: str
// returns: day: str, task: str, graph: str, session: str, model: str?, runs: int, calls: int,
//   cached: int, input_tokens: int, output_tokens: int, cache_read_tokens: int,
//   cache_write_tokens: int, cost: float, unpriced: int
// mode: read
MATCH (d:PgsSpending)
WHERE d.day >= $since
OPTIONAL MATCH (r:PgsRun {id: d.run})
RETURN d.day AS day, d.task AS task, d.graph AS graph, d.session AS session,
       coalesce(r.model, d.model) AS model, sum(d.runs) AS runs, sum(d.calls) AS calls,
       sum(d.cached) AS cached, sum(d.input_tokens) AS input_tokens,
       sum(d.output_tokens) AS output_tokens, sum(d.cache_read_tokens) AS cache_read_tokens,
       sum(d.cache_write_tokens) AS cache_write_tokens, sum(d.cost) AS cost,
       sum(d.unpriced) AS unpriced
ORDER BY day DESC, graph, session, task, model
