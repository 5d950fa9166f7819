// Labels and relationship types in use, and totals, for users without access to the count store.
// returns: nodes: int, relationships: int, labels: list[str], types: list[str]
// mode: read
// sees: everything
CALL () { CALL db.labels() YIELD label RETURN collect(label) AS labels }
CALL () { CALL db.relationshipTypes() YIELD relationshipType RETURN collect(relationshipType) AS types }
CALL () { MATCH (n) RETURN count(n) AS nodes }
CALL () { MATCH ()-[r]->() RETURN count(r) AS relationships }
RETURN nodes, relationships, labels, types
