// The largest heap the server may use, in bytes.
// params:
// returns: max_bytes: int
// mode: read
// language: 5, 25
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN attributes.HeapMemoryUsage.value.properties.max AS max_bytes
