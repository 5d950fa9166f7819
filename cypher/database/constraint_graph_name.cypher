// One PgsGraph per name.
// mode: schema
CREATE CONSTRAINT pgs_graph_name IF NOT EXISTS FOR (n:PgsGraph) REQUIRE n.name IS UNIQUE
