// Store a graph mapping under its name, if the name is new or still has the mapping `former`.
// params: name: graph, mapping: str, former: any?
// returns: created: bool, stored: bool
// mode: write
MERGE (g:PgsGraph {name: $name})
ON CREATE SET g.created_at = datetime()
// Locked before its mapping is read.
SET g.checked_at = datetime()
WITH g, g.mapping IS NULL AS created, coalesce(g.mapping = $former, true) AS stored
FOREACH (one IN CASE WHEN stored THEN [g] ELSE [] END |
  SET one.mapping = $mapping, one.updated_at = datetime())
RETURN created, stored
