// Version of the installed Graph Data Science library.
// params:
// returns: version: str
// mode: read
// language: 5, 25
RETURN gds.version() AS version
