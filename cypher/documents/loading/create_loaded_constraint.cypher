// Loaded nodes are found by graph and id. It belongs to the loaded graph, so purge keeps it.
// mode: schema
CREATE CONSTRAINT loaded_node_key IF NOT EXISTS
FOR (n:LoadedNode) REQUIRE (n.graph, n.id) IS UNIQUE
