// How many relationships of each type hold a vector, by its length; the most frequent first.
// params: types: list[str], embedding: str
// returns: type: str, dimensions: int, relationships: int
// mode: read
// sees: everything
CALL () {
  WITH $types AS types WHERE size(types) > 0
  MATCH ()-[r:$any(types)]->() RETURN r
  UNION ALL
  WITH $types AS types WHERE size(types) = 0
  MATCH ()-[r]->() WHERE NOT type(r) STARTS WITH 'PGS_' RETURN r
}
WITH r, r[$embedding] AS own
WHERE own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
WITH type(r) AS type, size(own) AS dimensions WHERE dimensions > 0
RETURN type, dimensions, count(*) AS relationships
ORDER BY relationships DESC, dimensions DESC, type
