// Those of some nodes that a scope sees, or that pgs wrote for graphs of the scope, whose names end
// with `suffix`.
// params: ids: list[str], suffix: str, scope: dict, view: str?
// returns: own: list[str]
// mode: read
// sees: nodes
MATCH (n)
WHERE elementId(n) IN $ids
  AND CASE
        WHEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs') THEN all(k IN keys($scope) WHERE n[k] = $scope[k])
          AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
        WHEN n:PgsReply THEN $suffix = '~' + coalesce(n.scope, '')
        ELSE coalesce(n.graph ENDS WITH $suffix, false)
          OR any(graph IN n.graphs WHERE graph ENDS WITH $suffix)
          OR EXISTS { (n)-[:PGS_RAN_IN]->(s:PgsSession) WHERE s.graph ENDS WITH $suffix }
          OR EXISTS { (n)-[:PGS_FROM]->(:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession) WHERE s.graph ENDS WITH $suffix }
          OR EXISTS { (n)<-[:PGS_SWEPT]-(:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession) WHERE s.graph ENDS WITH $suffix }
          OR EXISTS {
            (n)-[:PGS_FROM]->(:PgsSweep)<-[:PGS_SWEPT]-(:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
            WHERE s.graph ENDS WITH $suffix
          }
          OR EXISTS {
            (n)-[:PGS_PART_OF]->(:PgsGeneration)-[:PGS_OF]->(g:PgsGraph) WHERE g.name ENDS WITH $suffix
          }
      END
RETURN collect(elementId(n)) AS own
