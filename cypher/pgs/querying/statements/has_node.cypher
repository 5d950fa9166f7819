// Whether a node has a label, and a property if one is named.
// params: property: str
// returns: found: bool
// mode: read
// sees: everything
MATCH (n:`{label}`)
WHERE $property = '' OR n[$property] IS NOT NULL
RETURN true AS found LIMIT 1
