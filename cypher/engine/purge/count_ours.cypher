// Numbers of the package's nodes and relationships.
// params: labels: list[str], types: list[str]
// returns: nodes: int, relationships: int
// mode: read
// sees: everything
CALL () { MATCH (n:$any($labels)) RETURN count(n) AS nodes }
CALL () { MATCH ()-[r:$any($types)]->() RETURN count(r) AS relationships }
RETURN nodes, relationships
