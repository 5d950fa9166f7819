// The properties from which the titles of some nodes are made, as parallel lists. Texts are read
// only if there is no title. Long ones are cut, because a title is one line.
// params: ids: list[int], title: str, text: list[str], key: str
// returns: ids: list[int], titles: list[list[any]], keys: list[list[any]], texts: list[list[any]]
// mode: read
// language: 5, 25
MATCH (n) WHERE id(n) IN $ids
RETURN collect(id(n)) AS ids, collect([n[$title]]) AS titles, collect([n[$key]]) AS keys,
       collect([property IN $text WHERE n[$title] IS NULL |
         CASE WHEN n[property] IS :: STRING NOT NULL THEN left(n[property], 2000)
              ELSE n[property] END]) AS texts
