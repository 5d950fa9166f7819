// Labels that nodes of a label have, each combination once, in the first `scan` nodes.
// params: label: str, scan: int
// returns: labels: list[str]
// mode: read
// sees: everything
MATCH (n:$($label))
WITH n LIMIT $scan
RETURN DISTINCT labels(n) AS labels
