// Take a run over from its holder, which can record nothing from then on. Returns what the run has
// spent in total and, as `today`, what it has spent on that day. No row if another process was
// faster.
// params: run: str, former: str, holder: str, today: str
// returns: id: str, spent: dict, today: dict?
// mode: write
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $former OR r.holder = $holder
SET r.holder = $holder, r.updated_at = datetime(), r.status = 'running', r.finished_at = null,
    r.error = null, r.tally = null
WITH r
OPTIONAL MATCH (d:PgsSpending {id: $today})
RETURN r.id AS id,
       r {.calls, .input_tokens, .output_tokens, .cache_read_tokens, .cache_write_tokens,
          .cost} AS spent,
       d {.calls, .input_tokens, .output_tokens, .cached, .cache_read_tokens, .cache_write_tokens,
          .cost} AS today
