// Number of relationships of a type, from the count store.
// returns: count: int
// mode: read
MATCH ()-[r:`{type}`]->() RETURN count(r) AS count
