// Replace texts of our records; their numbers and links stay. Reasons for doubts quote words of
// the text of their finding, and go with it.
// params: rows: list[dict], mark: str
// returns: changed: int
// mode: write
// sees: links
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element_id AND any(label IN labels(n) WHERE label STARTS WITH 'Pgs')
SET n += row.values
FOREACH (_ IN CASE WHEN 'text' IN keys(row.values) AND n.doubts IS NOT NULL THEN [1] ELSE [] END |
  SET n.doubts = CASE WHEN n.doubts IS :: LIST<ANY> THEN [doubt IN n.doubts | $mark] ELSE [] END)
RETURN count(n) AS changed
