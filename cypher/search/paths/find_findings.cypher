// Findings of a graph's runs that hold at least `least` of some words, those with most first, then
// those of the latest run. Words are in lower case. Names of sessions begin with `prefix`. What its
// nodes do not bear out is left out, because another answer would rest on it.
// params: graph: graph, prefix: str, words: list[str], least: int, k: int
// returns: id: str, text: str, run: str, partition: int, count: int
// mode: read
MATCH (s:PgsSession {graph: $graph})<-[:PGS_RAN_IN]-(r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)
      <-[:PGS_FROM]-(f:PgsFinding)
WHERE s.id STARTS WITH $prefix AND size(coalesce(f.doubts, [])) = 0 AND coalesce(f.misquoted, 0) = 0
WITH r, w, f, toLower(f.text) AS text
WITH r, w, f, size([word IN $words WHERE text CONTAINS word]) AS count
WHERE count >= $least
RETURN f.id AS id, f.text AS text, r.id AS run, w.partition AS partition, count
ORDER BY count DESC, r.started_at DESC, id LIMIT $k
