// What the titles of some nodes come from, as parallel lists: long texts are cut, since a title is
// one line, and only read without a title.
// params: ids: list[int], title: str, text: list[str], key: str
// returns: ids: list[int], titles: list[list[any]], keys: list[list[any]], texts: list[list[any]]
// mode: read
MATCH (n) WHERE id(n) IN $ids
RETURN collect(id(n)) AS ids, collect([n[$title]]) AS titles, collect([n[$key]]) AS keys,
       collect([property IN $text WHERE n[$title] IS NULL |
         CASE WHEN n[property] IS :: STRING NOT NULL THEN left(n[property], 2000)
              ELSE n[property] END]) AS texts
