// Stored skeletons by key, and whether a graph is recorded as one that uses them. An empty text
// means that there is no mechanism.
// params: keys: list[str], graph: graph
// returns: key: str, text: str, model: str, known: bool
// mode: read
UNWIND $keys AS wanted
MATCH (s:PgsSkeleton {key: wanted})
RETURN s.key AS key, s.text AS text, s.model AS model, $graph IN s.graphs AS known
