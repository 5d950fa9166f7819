// Mark generations as abandoned if they are still being built; one already made current stays.
// Takes the lock before it looks, so that a concurrent flip comes wholly before or not at all.
// params: generations: list[str]
// returns: ids: list[str]
// mode: write
MATCH (c:PgsGeneration) WHERE c.id IN $generations
SET c.checked_at = datetime()
WITH c WHERE c.status IN ['building', 'abandoned']
SET c.status = 'abandoned'
RETURN collect(c.id) AS ids
