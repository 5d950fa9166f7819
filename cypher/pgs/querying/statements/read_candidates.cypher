// Strings of a property that may be meant by strings which are not among them, each once. A wanted
// string limits the length, and tells parts of which a candidate has some in lower case. All in one
// row, since the driver takes long for each of many.
// params: wanted: list[dict], limit: int
// returns: values: list[str]
// mode: read
// sees: everything
MATCH (n:`{labels}`)
WITH n.`{property}` AS value WHERE value IS :: STRING NOT NULL
WITH value, toLower(left(value, 300)) AS folded, size(value) AS length
WHERE any(one IN $wanted WHERE one.shortest <= length <= one.longest
  AND size([part IN one.parts WHERE folded CONTAINS part]) >= one.least)
WITH DISTINCT value LIMIT $limit
RETURN collect(value) AS values
