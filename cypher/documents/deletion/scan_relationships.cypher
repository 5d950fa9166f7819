// Every text of every relationship, by the node where it begins: strings of at least `least`
// characters, and lists of strings. A row each would take several times as long. Each value is read
// once and then judged: if its relationship is deleted in between, a second reading would find null.
// params: least: int
// returns: id: str, element_id: str, found: list[dict]
// mode: read
// sees: everything
MATCH (s)
CALL (s) {
  MATCH (s)-[r]->(o)
  WITH r, o, [pair IN [key IN keys(r) | [key, r[key]]]
              WHERE pair[1] IS :: STRING NOT NULL AND size(pair[1]) >= $least
                 OR pair[1] IS :: LIST<STRING NOT NULL> NOT NULL] AS values
  WHERE values <> []
  RETURN collect({
    type: type(r), target: coalesce(toStringOrNull(o.id), elementId(o)), end: elementId(o),
    values: values
  }) AS found
}
WITH s, found WHERE found <> []
RETURN coalesce(toStringOrNull(s.id), elementId(s)) AS id, elementId(s) AS element_id, found
