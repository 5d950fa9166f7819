// Reads nothing: its transaction only yields a bookmark.
// params:
// returns: one
// mode: read
RETURN 1 AS one
