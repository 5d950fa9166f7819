// A run's record of each partition, or of one, with the cited nodes that still exist. Their texts are
// included only if a bullet was stored without citations, as in the first releases.
// params: run: str, partition: int?, title: str, key: str, text: list[str]
// returns: id: str, partition: int, sweep: dict, findings: list[dict], flags: list[dict],
//   absences: list[dict]
// mode: read
// language: 5, 25
MATCH (:PgsRun {id: $run})-[:PGS_SWEPT]->(w:PgsSweep)
WHERE $partition IS NULL OR w.partition = $partition
RETURN w.id AS id, w.partition AS partition, w {.*} AS sweep,
       [(f:PgsFinding)-[:PGS_FROM]->(w) |
        f {.place, .text, .citations, .quotes, cited: [(f)-[c:PGS_CITES]->(n) |
          {alias: c.alias, rank: c.rank, element_id: elementId(n), labels: labels(n),
           title: n[$title], key: n[$key],
           text: [property IN $text WHERE f.citations IS NULL | n[property]]}]}] AS findings,
       [(f:PgsFlag)-[:PGS_FROM]->(w) |
        f {.place, .text, .target, .citations, cited: [(f)-[c:PGS_CITES]->(n) |
          {alias: c.alias, rank: c.rank, element_id: elementId(n), labels: labels(n),
           title: n[$title], key: n[$key],
           text: [property IN $text WHERE f.citations IS NULL | n[property]]}]}] AS flags,
       [(a:PgsAbsence)-[:PGS_FROM]->(w) | a {.place, .text}] AS absences
ORDER BY partition
