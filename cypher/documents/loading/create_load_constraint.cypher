// One load at a time per graph.
// mode: schema
CREATE CONSTRAINT pgs_load_graph IF NOT EXISTS FOR (l:PgsLoad) REQUIRE l.graph IS UNIQUE
