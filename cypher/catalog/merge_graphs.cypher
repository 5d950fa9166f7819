// Store a graph mapping under its name.
// params: name: str, mapping: str
// returns: created: bool
// mode: write
OPTIONAL MATCH (old:PgsGraph {name: $name})
WITH old IS NULL AS created
MERGE (g:PgsGraph {name: $name})
ON CREATE SET g.created_at = datetime()
SET g.mapping = $mapping, g.updated_at = datetime()
RETURN created
