// How a string is spelled inside of the values of a property, apart from case, and how many values
// spell it so. In a value that has it exactly, other spellings do not count.
// params: written: str, folded: str, comparison: str, limit: int
// returns: spelling: str, count: int
// mode: read
// sees: everything
MATCH (n:`{labels}`)
WITH n.`{property}` AS value WHERE value IS :: STRING NOT NULL
WITH value, toLower(value) AS folded
WHERE CASE $comparison WHEN 'contains' THEN folded CONTAINS $folded
                       WHEN 'starts with' THEN folded STARTS WITH $folded
                       ELSE folded ENDS WITH $folded END
WITH CASE $comparison
       WHEN 'contains' THEN CASE WHEN value CONTAINS $written THEN $written
         ELSE substring(value, size(split(folded, $folded)[0]), size($folded)) END
       WHEN 'starts with' THEN left(value, size($folded))
       ELSE right(value, size($folded)) END AS spelling
RETURN spelling, count(*) AS count
ORDER BY spelling = $written DESC, count DESC, spelling LIMIT $limit
