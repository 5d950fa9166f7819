// Short strings of a property that may be meant by strings which are not among them, each once. A
// wanted string limits the length, and tells parts of which a candidate has some in lower case. All
// in one row, since the driver takes long for each of many.
// params: labels: list[str], property: str, wanted: list[dict], longest: int, limit: int
// returns: values: list[str]
// mode: read
MATCH (n:$any($labels))
UNWIND CASE WHEN n[$property] IS :: LIST<STRING NOT NULL> NOT NULL THEN n[$property]
            ELSE [n[$property]] END AS value
WITH value WHERE CASE WHEN value IS :: STRING NOT NULL THEN size(value) <= $longest ELSE false END
WITH DISTINCT value
WITH value, toLower(value) AS folded, size(value) AS length
WHERE any(one IN $wanted WHERE one.shortest <= length <= one.longest
  AND size([part IN one.parts WHERE folded CONTAINS part]) >= one.least)
WITH value LIMIT $limit
RETURN collect(value) AS values
