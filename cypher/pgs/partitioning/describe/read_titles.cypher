// The properties from which the titles of some nodes are made, as parallel lists. Texts are read
// only if there is no title. Long ones are cut, because a title is one line.
// params: ids: list[int], title: list[dict], text: list[dict], key: list[dict], scope: dict,
//   view: str?
// returns: ids: list[int], titles: list[list[any?]], keys: list[list[any?]], texts: list[list[any?]],
//   labels: list[str]
// mode: read
// sees: nodes
MATCH (n) WHERE id(n) IN $ids AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH n, head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
              | n[own.property]]) AS title,
     head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
           | n[own.property]]) AS key
RETURN collect(id(n)) AS ids, collect([title]) AS titles, collect([key]) AS keys,
       collect([own IN $text WHERE title IS NULL AND own.label IN labels(n) + '' |
         CASE WHEN n[own.property] IS :: STRING NOT NULL THEN left(n[own.property], 2000)
              ELSE n[own.property] END]) AS texts,
       collect(coalesce(head([label IN labels(n) WHERE NOT label STARTS WITH 'Pgs']), 'node'))
         AS labels
