// One load at a time per graph.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_load_graph IF NOT EXISTS FOR (l:PgsLoad) REQUIRE l.graph IS UNIQUE
