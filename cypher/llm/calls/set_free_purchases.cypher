// Give up the purchase of replies that a run did not get.
// params: keys: list[str], run: str
// returns: freed: int
// mode: write
UNWIND $keys AS wanted
MATCH (p:PgsPurchase {key: wanted})
SET p.checked_at = true REMOVE p.checked_at
WITH p WHERE p.run = $run
SET p.run = ''
RETURN count(*) AS freed
