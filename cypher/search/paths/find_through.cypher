// Nodes of a view with text that lie beyond one or two nodes without text, seen from some entries,
// the nearest to a vector first. Such a node between them is a bare hub, of any label and degree.
// Each far node comes once, by its shortest path. `nodes` are the titles along the path, the entry's
// first; `types` and `forward` tell the relationships between them and whether they lead away from
// the entry. Without a vector, far nodes score 0. Relationships of this package do not count.
// params: entries: list[str], types: list[str], labels: list[str], text: list[dict], title:
//   list[dict], embedding: str, vector: list[float], k: int, scope: dict, view: str?, valid:
//   list[dict]
// returns: far: list[dict]
// mode: read
// sees: nodes
UNWIND range(0, size($entries) - 1) AS i
MATCH (n) WHERE elementId(n) = $entries[i] AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
MATCH (n)-[r]-(h)
WHERE h <> n AND CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
  AND none(own IN $text WHERE own.label IN labels(h) + ''
           AND trim(coalesce(toStringOrNull(h[own.property]), '')) <> '')
  AND none(label IN labels(h) WHERE label STARTS WITH 'Pgs')
  AND all(k IN keys($scope) WHERE h[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (h)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
WITH i, n, h, head(collect(r)) AS r
CALL (n, h, r) {
  MATCH (h)-[s]-(m)
  WHERE m <> n AND m <> h
    AND CASE size($types) WHEN 0 THEN NOT type(s) STARTS WITH 'PGS_' ELSE type(s) IN $types END
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(s[v.name]) < v.high, s[v.name] IS NULL))
  RETURN [h] AS hubs, [r, s] AS links, m
  UNION ALL
  MATCH (h)-[s]-(g)
  WHERE g <> n AND g <> h
    AND CASE size($types) WHEN 0 THEN NOT type(s) STARTS WITH 'PGS_' ELSE type(s) IN $types END
    AND none(own IN $text WHERE own.label IN labels(g) + ''
           AND trim(coalesce(toStringOrNull(g[own.property]), '')) <> '')
    AND none(label IN labels(g) WHERE label STARTS WITH 'Pgs')
    AND all(k IN keys($scope) WHERE g[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (g)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(s[v.name]) < v.high, s[v.name] IS NULL))
  MATCH (g)-[t]-(m)
  WHERE m <> n AND m <> h AND m <> g
    AND CASE size($types) WHEN 0 THEN NOT type(t) STARTS WITH 'PGS_' ELSE type(t) IN $types END
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(t[v.name]) < v.high, t[v.name] IS NULL))
  RETURN [h, g] AS hubs, [r, s, t] AS links, m
}
WITH i, n, hubs, links, m
WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(m) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND any(own IN $text WHERE own.label IN labels(m) + ''
           AND trim(coalesce(toStringOrNull(m[own.property]), '')) <> '')
WITH i, n, hubs, links, m ORDER BY size(links), i
WITH m, head(collect({entry: n, hubs: hubs, links: links})) AS path
WITH m, path, m[$embedding] AS own
WITH m, path,
     CASE WHEN size($vector) > 0 AND own IS :: LIST<FLOAT NOT NULL> NOT NULL
            AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
          THEN 2 * vector.similarity.cosine(own, $vector) - 1 ELSE 0.0 END AS score
ORDER BY score DESC, elementId(m) LIMIT $k
WITH m, score, path, [path.entry] + path.hubs + [m] AS along
RETURN collect({
  element_id: elementId(m), score: score,
  nodes: [node IN along |
    head([own IN $title WHERE own.label IN labels(node) + '' AND node[own.property] <> ''
          | node[own.property]])],
  types: [link IN path.links | type(link)],
  forward: [place IN range(0, size(path.links) - 1) | startNode(path.links[place]) = along[place]]
}) AS far
