// Give up generations that are still being built; a generation made current meanwhile stays.
// Takes the lock before it looks, so that a flip under way comes wholly before or not at all.
// params: generations
// returns: ids
// mode: write
MATCH (c:PgsGeneration) WHERE c.id IN $generations
SET c.checked_at = datetime()
WITH c WHERE c.status IN ['building', 'abandoned']
SET c.status = 'abandoned'
RETURN collect(c.id) AS ids
