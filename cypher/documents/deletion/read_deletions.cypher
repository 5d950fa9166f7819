// What the deletions of a graph whose search has not ended were to delete.
// params: graph: graph
// returns: uid: str, label: str, documents: list[str], sentences: int, short: int
// mode: read
MATCH (d:PgsDeletion {graph: $graph}) WHERE d.ended_at IS NULL
RETURN d.uid AS uid, d.label AS label, d.documents AS documents, d.sentences AS sentences,
       d.short AS short
ORDER BY uid
