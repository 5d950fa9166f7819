// Claim the purchase of replies for a run. The state of a key is 'stored' if its reply is there,
// 'busy' if another run is buying it, else 'own'. A run is no buyer any more when it has ended or
// is one of `ended`, or when it gave no sign of life for some seconds. The lock of a key is taken
// before its buyer is read, and its reply is read last: a buyer records it before the
// end of the run.
// params: keys: list[str], run: str, ended: list[str], silent_s: number
// returns: key: str, state: str, buyer: str, holder: str
// mode: write
UNWIND $keys AS wanted
MERGE (p:PgsPurchase {key: wanted})
SET p.checked_at = true REMOVE p.checked_at
WITH p, wanted
OPTIONAL MATCH (b:PgsRun {id: p.run})
WITH p, wanted, b, coalesce(
  b.id <> $run AND b.status = 'running' AND NOT b.id IN $ended
  AND datetime() - duration({seconds: $silent_s}) <= b.updated_at
    <= datetime() + duration({seconds: $silent_s}), false) AS busy
FOREACH (_ IN CASE WHEN busy THEN [] ELSE [1] END |
  SET p.run = $run, p.claimed_at = datetime()
)
WITH wanted, b, busy
OPTIONAL MATCH (y:PgsReply {key: wanted})
RETURN wanted AS key,
       CASE WHEN y IS NOT NULL THEN 'stored' WHEN busy THEN 'busy' ELSE 'own' END AS state,
       CASE WHEN busy THEN b.id ELSE '' END AS buyer,
       CASE WHEN busy THEN coalesce(b.holder, '') ELSE '' END AS holder
