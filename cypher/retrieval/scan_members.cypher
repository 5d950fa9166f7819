// Members of some partitions whose text, lower case, holds parts of what is wanted: whole parts
// of at least `needed` terms, and `strict` of the patterns. One row; `found` has for each place
// in `wanted` that is held at all how many nodes hold it and the first `most` of them, in the
// order of `partitions` and by rank. One of the `probes` is in every text that can count, so
// most nodes are done with after them.
// params: partitions: list[str], text: list[str], wanted: list[dict], most: int
// returns: searched: int, found: list[dict]
// mode: read
// language: 5, 25
CALL () {
  UNWIND $partitions AS uid
  MATCH (p:PgsPartition {uid: uid})
  RETURN sum(COUNT { (p)<-[:PGS_IN]-() }) AS searched
}
CALL () {
  UNWIND range(0, size($partitions) - 1) AS place
  MATCH (p:PgsPartition {uid: $partitions[place]})<-[m:PGS_IN]-(n)
  WITH place, m, n,
       toLower(reduce(joined = '', value IN [property IN $text | n[property]] | joined +
         CASE
           WHEN value IS NULL THEN ''
           WHEN value IS :: STRING NOT NULL THEN value + '\n'
           WHEN value IS :: LIST<ANY> NOT NULL
             THEN reduce(lines = '', item IN toStringList(value) | lines + coalesce(item, '') + '\n')
           ELSE coalesce(toStringOrNull(value), '') + '\n'
         END)) AS joined
  WITH place, m, n,
       [w IN $wanted
        WHERE any(probe IN w.probes WHERE joined CONTAINS probe)
          AND size([term IN w.terms WHERE all(part IN term WHERE joined CONTAINS part)]) >= w.needed
          AND size([pattern IN w.patterns WHERE joined =~ pattern]) >= w.strict
        | w.place] AS held
  UNWIND held AS wanted
  WITH wanted, place, m.rank AS rank, n
  ORDER BY place, rank
  WITH wanted, count(*) AS count, collect(n)[..$most] AS nodes
  RETURN collect({wanted: wanted, count: count, nodes: [n IN nodes | elementId(n)]}) AS found
}
RETURN searched, found
