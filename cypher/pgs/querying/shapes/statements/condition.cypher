// A template: a condition on a property of asked nodes. The names, the sign, and the value are
// replaced.
// params: value: any
// returns: nodes: int
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE asked.measure = $value
RETURN count(asked) AS nodes
