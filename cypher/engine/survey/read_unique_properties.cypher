// Properties that a constraint makes unique among the nodes of a label.
// returns: label: str, property: str
// mode: read
// sees: everything
SHOW CONSTRAINTS YIELD type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE' AND size(properties) = 1
  AND (type ENDS WITH 'UNIQUENESS' OR type ENDS WITH 'KEY')
RETURN labelsOrTypes[0] AS label, properties[0] AS property
