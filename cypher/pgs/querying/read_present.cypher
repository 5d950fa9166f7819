// Which of some strings a property of nodes with one of the labels has, as its value or as an item.
// params: labels: list[str], property: str, values: list[str]
// returns: value: str
// mode: read
UNWIND $values AS value
CALL (value) {
  MATCH (n:$any($labels))
  WHERE CASE WHEN n[$property] IS :: LIST<STRING NOT NULL> NOT NULL THEN value IN n[$property]
             ELSE n[$property] = value END
  RETURN true AS present LIMIT 1
}
RETURN value
