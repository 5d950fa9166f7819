// Version of the installed Graph Data Science library.
// params:
// returns: version: str
// mode: read
RETURN gds.version() AS version
