// One process at a time writes the documents of a graph.
// mode: schema
CREATE CONSTRAINT pgs_ingest_graph IF NOT EXISTS
FOR (n:PgsIngest) REQUIRE n.graph IS UNIQUE
