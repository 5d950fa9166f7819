// Replace texts of our records; their numbers and links stay.
// params: rows: list[dict]
// returns: changed: int
// mode: write
// language: 5, 25
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element_id AND any(label IN labels(n) WHERE label STARTS WITH 'Pgs')
SET n += row.values
RETURN count(n) AS changed
