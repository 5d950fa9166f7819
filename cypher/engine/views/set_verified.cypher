// Note that the nodes of a view are right up to a state of the database, unless another process has
// changed the view since `version`.
// params: id: str, version: int, token: str?, definition: str
// returns: id: str
// mode: write
MATCH (v:PgsView {id: $id})
SET v.checked_at = datetime()
WITH v WHERE v.version = $version
SET v.token = $token, v.definition = $definition, v.used_at = datetime()
RETURN v.id AS id
