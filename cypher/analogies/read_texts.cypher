// Nodes of a view that hold any text, with what is shown of them, streamed.
// params: labels: list[str], text: list[str], title: str, key: str
// returns: element_id: str, text: list[any], title: any, key: any
// mode: read
// language: 5, 25
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
WITH n WHERE any(property IN $text WHERE n[property] IS NOT NULL)
RETURN elementId(n) AS element_id, [property IN $text | n[property]] AS text,
       n[$title] AS title, n[$key] AS key
