// Store skeletons, and record that a graph uses them. Those that are stored already stay the same.
// params: rows: list[dict], graph: graph
// returns: written: int
// mode: write
UNWIND $rows AS row
MERGE (s:PgsSkeleton {key: row.key})
ON CREATE SET s.text = row.text, s.model = row.model, s.graphs = [], s.created_at = datetime()
SET s.graphs = CASE WHEN $graph IN s.graphs THEN s.graphs ELSE s.graphs + $graph END
RETURN count(s) AS written
