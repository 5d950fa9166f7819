// Version and edition of the server, and the versions of Cypher it speaks: empty before 2025.06,
// where Cypher 5 is the only one.
// returns: version: str, edition: str, languages: list[str]
// mode: read
// language: any
CALL dbms.components() YIELD name, versions, edition
WITH collect({name: name, versions: versions, edition: edition}) AS components
WITH [c IN components WHERE c.name = 'Neo4j Kernel'][0] AS kernel,
     [c IN components WHERE c.name = 'Cypher'][0] AS language
RETURN kernel.versions[0] AS version, kernel.edition AS edition,
       coalesce(language.versions, []) AS languages
