// What runs cost by day, graph, session, and models, since some day of the server's calendar in
// UTC. `unpriced` counts the runs that called a model without prices; their cost is not in the sum.
// params: since: str
// returns: day: str, graph: str, session: str, model: str?, runs: int, calls: int, cached: int,
//   input_tokens: int, output_tokens: int, cache_read_tokens: int, cache_write_tokens: int,
//   cost: float, unpriced: int
// mode: read
// language: 5, 25
MATCH (r:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
WHERE r.started_at >= datetime($since)
RETURN toString(date(r.started_at)) AS day, s.graph AS graph, s.id AS session, r.model AS model,
       count(r) AS runs, sum(r.calls) AS calls, sum(r.cached) AS cached,
       sum(r.input_tokens) AS input_tokens,
       sum(r.output_tokens) AS output_tokens,
       sum(r.cache_read_tokens) AS cache_read_tokens,
       sum(r.cache_write_tokens) AS cache_write_tokens,
       sum(coalesce(r.cost, 0.0)) AS cost,
       sum(CASE WHEN r.cost IS NULL AND r.calls > 0 THEN 1 ELSE 0 END) AS unpriced
ORDER BY day DESC, graph, session, model
