// Nodes whose text holds at least one of the terms, with the places of the terms it holds.
// Terms are in normal form and lower case, and so are the texts: the `dropped` signs are taken out,
// and each of the `alike` signs becomes the letters that it stands for.
// `size` is the length of the text in characters.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: labels: list[str], text: list[dict], terms: list[str], dropped: list[str], alike:
//   list[list[str]], facts: list[dict], scope: dict, view: str?, valid: list[dict]
// returns: element_id: str, found: list[int], size: int
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
}
WITH n, reduce(joined = '', value IN
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
         | joined + ' ' +
         CASE
           WHEN value IS :: LIST<ANY> NOT NULL
             THEN reduce(items = '', item IN toStringList(value) | items + coalesce(item, '') + ' ')
           ELSE coalesce(toStringOrNull(value), '')
         END) AS written
WITH n,
     CASE
       WHEN written =~ '\\p{ASCII}*+' THEN toLower(written)
       ELSE
         reduce(folded =
           replace(replace(normalize(toLower(toUpper(normalize(
             reduce(kept = '', part IN split(normalize(written, NFKC), $dropped) | kept + part),
           NFKC))), NFKC), 'ς', 'σ'), 'i\u0307', 'i'),
           pair IN $alike | replace(folded, pair[0], pair[1]))
     END AS joined
WITH n, size(joined) AS size, [i IN range(0, size($terms) - 1) WHERE joined CONTAINS $terms[i]] AS found
WHERE size(found) > 0
RETURN elementId(n) AS element_id, found, size
