// Number of nodes with a label, from the count store. The label is a name in the statement, because
// the server would scan all nodes for a parameter.
// returns: count: int
// mode: read
// sees: everything
MATCH (n:`{label}`) RETURN count(n) AS count
