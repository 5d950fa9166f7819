// The state of a view, as in `merge_views`, if it exists. `fresh`: it was used in the last hour.
// params: id: str
// returns: version: int, token: str?, definition: str?, fresh: bool
// mode: read
// plan: once
MATCH (v:PgsView {id: $id})
RETURN v.version AS version, v.token AS token, v.definition AS definition,
       v.used_at > datetime() - duration({hours: 1}) AS fresh
