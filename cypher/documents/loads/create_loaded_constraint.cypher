// Loaded nodes are found by graph and id. It belongs to the loaded graph, so purge keeps it.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT loaded_node_key IF NOT EXISTS
FOR (n:LoadedNode) REQUIRE (n.graph, n.id) IS UNIQUE
