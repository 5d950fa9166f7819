// Every text of every relationship: strings of at least `least` characters, and lists of strings.
// params: least: int
// returns: type: str, id: str, values: list[list[any]]
// mode: read
// language: 5, 25
MATCH (s)-[r]->(o)
WITH s, r, o, [key IN keys(r)
               WHERE r[key] IS :: STRING NOT NULL AND size(r[key]) >= $least
                     OR r[key] IS :: LIST<STRING NOT NULL> NOT NULL] AS keys
WHERE keys <> []
RETURN type(r) AS type,
       coalesce(toStringOrNull(s.id), elementId(s)) + ' -> '
         + coalesce(toStringOrNull(o.id), elementId(o)) AS id,
       [key IN keys | [key, r[key]]] AS values
