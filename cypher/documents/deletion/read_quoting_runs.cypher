// The runs that records of answers belong to, latest first.
// params: ids: list[str]
// returns: element_id: str, run: str, session: str, graph: graph, question: str
// mode: read
// sees: links
UNWIND $ids AS id
MATCH (n) WHERE elementId(n) = id
MATCH (n)-[:PGS_FROM|PGS_SWEPT*0..2]-(r:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
RETURN DISTINCT id AS element_id, r.id AS run, s.id AS session, s.graph AS graph,
       coalesce(r.question, '') AS question
