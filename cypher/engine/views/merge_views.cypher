// Create the node of a view unless it exists, and return its state. `token` is the state of the
// database up to which its nodes are known to be right. `version` counts the changes of its nodes.
// params: id: str, base: graph
// returns: version: int, token: str?, definition: str?, fresh: bool
// mode: write
MERGE (v:PgsView {id: $id})
ON CREATE SET v.base = $base, v.created_at = datetime(), v.used_at = datetime(), v.version = 0
RETURN v.version AS version, v.token AS token, v.definition AS definition,
       v.used_at > datetime() - duration({hours: 1}) AS fresh
