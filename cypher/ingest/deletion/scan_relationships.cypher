// Every text of every relationship, by the node where it begins: strings of at least `least`
// characters, and lists of strings. A row each would take several times as long.
// params: least: int
// returns: id: str, found: list[dict]
// mode: read
// language: 5, 25
MATCH (s)
CALL (s) {
  MATCH (s)-[r]->(o)
  WITH r, o, [key IN keys(r)
              WHERE r[key] IS :: STRING NOT NULL AND size(r[key]) >= $least
                    OR r[key] IS :: LIST<STRING NOT NULL> NOT NULL] AS keys
  WHERE keys <> []
  RETURN collect({
    type: type(r), target: coalesce(toStringOrNull(o.id), elementId(o)),
    values: [key IN keys | [key, r[key]]]
  }) AS found
}
WITH s, found WHERE found <> []
RETURN coalesce(toStringOrNull(s.id), elementId(s)) AS id, found
