// One PgsAnalogies per graph.
// mode: schema
CREATE CONSTRAINT pgs_analogies_graph IF NOT EXISTS FOR (n:PgsAnalogies) REQUIRE n.graph IS UNIQUE
