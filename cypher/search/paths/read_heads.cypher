// Titles of some nodes, and the beginnings of their texts: each property is cut after `most`
// characters, and `cut` says whether one was. Facts are not read.
// params: nodes: list[str], text: list[dict], title: list[dict], most: int, scope: dict, view: str?
// returns: element_id: str, text: list[any?], title: any?, cut: bool
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH n, [own IN $text WHERE own.label IN labels(n) + '' | n[own.property]] AS texts
RETURN elementId(n) AS element_id,
       [value IN texts |
        CASE WHEN value IS :: STRING NOT NULL THEN left(value, $most) ELSE value END] AS text,
       head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
             | n[own.property]]) AS title,
       any(value IN texts WHERE CASE WHEN value IS :: STRING NOT NULL
                                     THEN size(value) > $most ELSE false END) AS cut
