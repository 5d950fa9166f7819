// Version of the installed Graph Data Science library.
// returns: version: str
// mode: read
RETURN gds.version() AS version
