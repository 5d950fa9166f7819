// Whether a view's relationships have a property: 1 or 0.
// params: types: list[str], name: str
// returns: count: int
// mode: read
CALL () {
  WITH $types AS types WHERE size(types) > 0
  MATCH ()-[r:$any(types)]->() WHERE r[$name] IS NOT NULL RETURN r LIMIT 1
  UNION ALL
  WITH $types AS types WHERE size(types) = 0
  MATCH ()-[r]->() WHERE r[$name] IS NOT NULL AND NOT type(r) STARTS WITH 'PGS_'
  RETURN r LIMIT 1
}
RETURN count(r) AS count
