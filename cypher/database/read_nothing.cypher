// Reads nothing: its transaction only yields a bookmark.
// returns: one: int
// mode: read
RETURN 1 AS one
