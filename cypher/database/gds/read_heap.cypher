// The largest heap the server may use, in bytes.
// returns: max_bytes: int
// mode: read
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN attributes.HeapMemoryUsage.value.properties.max AS max_bytes
