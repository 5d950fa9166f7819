// Titles and texts of some nodes, as parallel lists.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: ids: list[int], text: list[str], title: str, facts: list[dict]
// returns: ids: list[int], titles: list[list[any]], texts: list[list[any]]
// mode: read
// language: 5, 25
MATCH (n) WHERE id(n) IN $ids
WITH n, CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
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
  RETURN {
    type: type(r), name: r[view.name], fact: r[view.fact], node: elementId(t), target:
    head([name IN [toStringOrNull(t[view.title]), toStringOrNull(t[view.key])]
      + [property IN $text WHERE t[property] IS :: STRING NOT NULL | left(t[property], 200)]
      + labels(t) WHERE trim(name) <> '' | left(name, 200)])
  }
} END AS facts
RETURN collect(id(n)) AS ids, collect([n[$title]]) AS titles,
       collect([property IN $text | n[property]] + facts) AS texts
