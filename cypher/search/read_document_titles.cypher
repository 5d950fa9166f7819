// The titles of documents by their element ids. One without a title or a name is left out.
// params: ids: list[str]
// returns: document: str, title: str
// mode: read
MATCH (d)
WHERE elementId(d) IN $ids
WITH elementId(d) AS document, coalesce(toStringOrNull(d.title), toStringOrNull(d.name)) AS title
WHERE title IS NOT NULL
RETURN document, title
