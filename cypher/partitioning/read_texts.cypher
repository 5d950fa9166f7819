// Titles and texts of some nodes, as parallel lists.
// params: ids: list[int], text: list[str], title: str
// returns: ids: list[int], titles: list[list[any]], texts: list[list[any]]
// mode: read
// language: 5, 25
MATCH (n) WHERE id(n) IN $ids
RETURN collect(id(n)) AS ids, collect([n[$title]]) AS titles,
       collect([property IN $text | n[property]]) AS texts
