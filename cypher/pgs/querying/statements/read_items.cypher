// Items of a property with lists of strings that may be meant by strings, as for single strings.
// params: wanted: list[dict], limit: int
// returns: values: list[str]
// mode: read
// sees: everything
MATCH (n:`{labels}`)
WITH n.`{property}` AS list WHERE list IS :: LIST<STRING NOT NULL> NOT NULL
UNWIND list AS value
WITH value, toLower(left(value, 300)) AS folded, size(value) AS length
WHERE any(one IN $wanted WHERE one.shortest <= length <= one.longest
  AND size([part IN one.parts WHERE folded CONTAINS part]) >= one.least)
WITH DISTINCT value LIMIT $limit
RETURN collect(value) AS values
