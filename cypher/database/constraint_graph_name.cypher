// One PgsGraph per name.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_graph_name IF NOT EXISTS FOR (n:PgsGraph) REQUIRE n.name IS UNIQUE
