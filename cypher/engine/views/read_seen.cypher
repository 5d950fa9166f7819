// The internal ids of the nodes of a view, some thousands in a row.
// params: id: str
// returns: ids: list[int]
// mode: read
// sees: links
MATCH (:PgsView {id: $id})<-[:PGS_SEEN]-(n)
WITH id(n) / 8192 AS block, collect(id(n)) AS ids
RETURN ids
