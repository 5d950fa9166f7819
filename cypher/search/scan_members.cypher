// Members of some partitions whose text, in normal form and lower case, holds parts of what is
// wanted: whole parts of at least `needed` terms, and `strict` of the patterns. One row; `found`
// has for each place in `wanted` that is held at all how many nodes hold it and the first `most` of
// them, in the order of `partitions` and by rank. One of the `probes` is in every text that can
// count, so most nodes are done with after them. A plain text is only lowered; of others, the
// `dropped` signs are taken out, upper case comes before lower so that ß is ss, and each of the
// `alike` signs becomes the letters that it stands for. A text with hyphens counts without them as
// well, since they may stand at the ends of lines. The facts of relationships within the view are
// text of their source. If `facts` is empty, no relationship is read.
// params: partitions: list[str], text: list[dict], wanted: list[dict], most: int, dropped:
//   list[str], alike: list[list[str]], facts: list[dict], scope: dict, view: str?, valid:
//   list[dict]
// returns: searched: int, found: list[dict]
// mode: read
// sees: nodes
CALL () {
  UNWIND $partitions AS uid
  MATCH (p:PgsPartition {uid: uid})
  RETURN sum(COUNT { (p)<-[:PGS_IN]-() }) AS searched
}
CALL () {
  UNWIND range(0, size($partitions) - 1) AS place
  MATCH (p:PgsPartition {uid: $partitions[place]})<-[m:PGS_IN]-(n)
  WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  WITH place, m, n,
       reduce(joined = '', value IN
         [own IN $text WHERE own.label IN labels(n) + '' | n[own.property]]
           + CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
           UNWIND $facts AS view
           MATCH (n)-[r]->(t)
           WHERE r[view.fact] IS NOT NULL
             AND CASE size(view.types)
                   WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
                   ELSE type(r) IN view.types
                 END
             AND CASE size(view.labels)
                   WHEN 0 THEN none(label IN labels(t) WHERE label STARTS WITH 'Pgs')
                   ELSE any(label IN labels(t) WHERE label IN view.labels)
                 END
             AND all(k IN keys($scope) WHERE t[k] = $scope[k])
             AND ($view IS NULL OR EXISTS { (t)-[:PGS_SEEN]->(:PgsView {id: $view}) })
             AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
           UNWIND [r[view.fact], head([
             name IN [own IN view.names WHERE own.label IN labels(t) + '' | toStringOrNull(t[own.property])]
             + [own IN $text WHERE own.label IN labels(t) + '' AND t[own.property] IS :: STRING NOT NULL
                | left(t[own.property], 200)]
             + labels(t) WHERE trim(name) <> '' | left(name, 200)])] AS value
           RETURN value
         } END
         | joined +
         CASE
           WHEN value IS NULL THEN ''
           WHEN value IS :: STRING NOT NULL THEN value + '\n'
           WHEN value IS :: LIST<ANY> NOT NULL
             THEN reduce(lines = '', item IN toStringList(value) | lines + coalesce(item, '') + '\n')
           ELSE coalesce(toStringOrNull(value), '') + '\n'
         END) AS written
  WITH place, m, n,
       CASE
         WHEN written =~ '\\p{ASCII}*+' THEN toLower(written)
         ELSE
           reduce(folded =
             replace(replace(normalize(toLower(toUpper(normalize(
               reduce(kept = '', part IN split(normalize(written, NFKC), $dropped) | kept + part),
             NFKC))), NFKC), 'ς', 'σ'), 'i\u0307', 'i'),
             pair IN $alike | replace(folded, pair[0], pair[1]))
       END AS form
  WITH place, m, n,
       CASE
         WHEN NOT (form CONTAINS '-' OR form CONTAINS '\u2010') THEN form
         ELSE
           reduce(joined = replace(form, '\r', ''), change IN [
             ['        ', ' '], ['    ', ' '], ['  ', ' '], [' \n', '\n'], ['\n ', '\n'],
             ['-\n', ''], ['-', ''], ['\u2010\n', ''], ['\u2010', '']
           ] | replace(joined, change[0], change[1])) + '\n' + form
       END AS joined
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
