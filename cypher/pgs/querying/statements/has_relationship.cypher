// Whether a relationship has a type, a property if one is named, and a label of each list at its
// ends. An empty list means any node.
// params: property: str, sources: list[str], targets: list[str]
// returns: found: bool
// mode: read
// sees: everything
MATCH (a)-[r:`{type}`]->(b)
WHERE ($property = '' OR r[$property] IS NOT NULL)
  AND (size($sources) = 0 OR any(label IN labels(a) WHERE label IN $sources))
  AND (size($targets) = 0 OR any(label IN labels(b) WHERE label IN $targets))
RETURN true AS found LIMIT 1
