// One PgsAnalogies per graph.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_analogies_graph IF NOT EXISTS FOR (n:PgsAnalogies) REQUIRE n.graph IS UNIQUE
