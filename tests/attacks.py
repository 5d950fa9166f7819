"""Generates hostile statements: they do more than a plain read of the user's graph, or are bombs.

None may pass the gate. They are pure text, and the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator

CANARY = "canary-7f3a"
"""A text that stands in nodes and relationships of pgs, and that no row may show."""

WRITES = (
    "CREATE (:Doc {name: 'new'})",
    "CREATE (x:Doc)-[:CITES]->(y:Doc)",
    "CREATE (:PgsRun {id: 'x'})",
    "MERGE (x:Doc {name: 'new'})",
    "MERGE (x:Doc {name: 'Ann'}) ON MATCH SET x.year = 1",
    "MERGE (x:Doc {name: 'new'}) ON CREATE SET x.year = 1",
    "MATCH (x:Doc) SET x.year = 1",
    "MATCH (x:Doc) SET x = {}",
    "MATCH (x:Doc) SET x += {year: 1}",
    "MATCH (x:Doc) SET x:Marked",
    "MATCH (x:Doc) SET x['year'] = 1",
    "MATCH (x:Doc) REMOVE x.year",
    "MATCH (x:Doc) REMOVE x:Doc",
    "MATCH (x:Doc) DELETE x",
    "MATCH (x:Doc) DETACH DELETE x",
    "MATCH (x:Doc) NODETACH DELETE x",
    "MATCH (:Doc)-[r:CITES]->() DELETE r",
    "MATCH (:Doc)-[r:CITES]->() SET r.page = 9",
    "INSERT (:Doc {name: 'new'})",
    "MATCH (x:Doc) FOREACH (i IN [1, 2] | SET x.year = i)",
    "FOREACH (i IN [1] | CREATE (:Doc))",
    "FOREACH (i IN [1] | MERGE (:Doc {name: i}))",
    "MATCH (x:Doc) FOREACH (y IN [x] | DELETE y)",
    "MATCH p = (:Doc)-[:CITES]->() FOREACH (n IN nodes(p) | SET n.marked = true)",
    "UNWIND [1, 2] AS i CREATE (:Doc {year: i})",
)
SCHEMA = (
    "CREATE INDEX bad FOR (n:Doc) ON (n.name)",
    "CREATE RANGE INDEX bad FOR (n:Doc) ON (n.name)",
    "CREATE TEXT INDEX bad FOR (n:Doc) ON (n.name)",
    "CREATE LOOKUP INDEX bad FOR (n) ON EACH labels(n)",
    "CREATE FULLTEXT INDEX bad FOR (n:Doc) ON EACH [n.name]",
    "CREATE POINT INDEX bad FOR (n:Doc) ON (n.at)",
    "CREATE VECTOR INDEX bad FOR (n:Doc) ON (n.vector)",
    "DROP INDEX kept",
    "DROP INDEX kept IF EXISTS",
    "CREATE CONSTRAINT bad FOR (n:Doc) REQUIRE n.name IS UNIQUE",
    "DROP CONSTRAINT kept IF EXISTS",
    "CREATE CONSTRAINT bad FOR (n:Doc) REQUIRE n.name IS NOT NULL",
)
ADMINISTRATION = (
    "CREATE USER eve SET PASSWORD 'password1' CHANGE NOT REQUIRED",
    "DROP USER neo4j",
    "ALTER USER neo4j SET PASSWORD 'password1'",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    "RENAME USER neo4j TO eve",
    "CREATE ROLE eve",
    "GRANT ROLE admin TO eve",
    "DENY READ {*} ON GRAPH * TO PUBLIC",
    "REVOKE ROLE admin FROM neo4j",
    "CREATE DATABASE eve",
    "DROP DATABASE neo4j",
    "STOP DATABASE neo4j",
    "START DATABASE neo4j",
    "ALTER DATABASE neo4j SET ACCESS READ ONLY",
    "CREATE ALIAS eve FOR DATABASE neo4j",
    "ENABLE SERVER 'x'",
    "DRYRUN REALLOCATE DATABASES",
    "SHOW USERS",
    "SHOW CURRENT USER",
    "SHOW DATABASES",
    "SHOW TRANSACTIONS",
    "SHOW SETTINGS",
    "SHOW PROCEDURES",
    "SHOW FUNCTIONS",
    "SHOW INDEXES",
    "SHOW CONSTRAINTS",
    "SHOW PRIVILEGES",
    "SHOW SERVERS",
    "SHOW ALIASES FOR DATABASE",
    "SHOW INDEXES YIELD name RETURN name",
    "TERMINATE TRANSACTION 'neo4j-transaction-1'",
    "TERMINATE TRANSACTIONS ['neo4j-transaction-1'] YIELD message",
)
PROCEDURES = (
    "db.labels()",
    "db.relationshipTypes()",
    "db.propertyKeys()",
    "db.schema.visualization()",
    "db.schema.nodeTypeProperties()",
    "db.info()",
    "db.ping()",
    "db.createLabel('x')",
    "db.awaitIndexes()",
    "db.clearQueryCaches()",
    "db.prepareForReplanning()",
    "db.stats.clear('QUERIES')",
    "db.resampleIndex('kept')",
    "db.index.fulltext.queryNodes('kept', 'x')",
    "db.index.vector.queryNodes('v', 3, [1.0])",
    "db.create.setNodeVectorProperty(null, 'x', [1.0])",
    "dbms.components()",
    "dbms.listConfig()",
    "dbms.queryJmx('*:*')",
    "dbms.info()",
    "dbms.killConnection('x')",
    "dbms.listConnections()",
    "dbms.setConfigValue('db.logs.query.enabled', 'OFF')",
    "dbms.security.createUser('eve', 'password1')",
    "dbms.showCurrentUser()",
    "dbms.listActiveLocks('x')",
    "tx.setMetaData({a: 1})",
    "tx.getMetaData()",
    "gds.graph.list()",
    "gds.graph.drop('kept')",
    "gds.graph.project('bad', 'Doc', 'CITES')",
    "gds.graph.project.cypher('bad', 'MATCH (n) RETURN id(n) AS id', 'RETURN 1')",
    "gds.version()",
    "gds.pageRank.stream('kept')",
    "gds.wcc.write('kept', {writeProperty: 'w'})",
    "gds.list()",
    "gds.louvain.mutate('kept', {mutateProperty: 'w'})",
    "gds.graph.nodeProperties.write('kept', ['w'])",
    "gds.backup({})",
    "gds.debug.sysInfo()",
    "apoc.load.json('file:///etc/passwd')",
    "apoc.cypher.run('CREATE (:Doc)', {})",
    "apoc.cypher.doIt('CREATE (:Doc)', {})",
    "apoc.export.csv.all('x.csv', {})",
    "apoc.periodic.iterate('MATCH (n) RETURN n', 'DELETE n', {})",
    "apoc.util.sleep(60000)",
    "apoc.meta.graph()",
    "apoc.create.node(['Doc'], {})",
)
FUNCTIONS = (
    "gds.version()",
    "gds.util.asNode(0)",
    "gds.util.asNodes([0, 1, 2, 3])",
    "gds.graph.exists('kept')",
    "gds.graph.project('bad', d, d)",
    "gds.graph.project('bad', d, null, {}, {})",
    "gds.util.nodeProperty('kept', 0, 'x')",
    "gds.similarity.cosine([1.0], [1.0])",
    "gds.util.NaN()",
    "gds.util.linkPrediction.x()",
    "gds.alpha.x(1)",
    "apoc.version()",
    "apoc.cypher.runFirstColumnSingle('MATCH (n) RETURN n', {})",
    "apoc.text.join([], '')",
    "apoc.node.degree(d)",
    "apoc.util.sha1(['a'])",
    "apoc.static.get('x')",
    "graph.names()",
    "graph.byName('neo4j')",
    "graph.byElementId('4:x:0')",
    "graph.propertiesByName('neo4j')",
    "db.nameFromElementId(elementId(d))",
    "genai.vector.encode('x', 'OpenAI', {})",
    "ai.text.embed('x', 'y')",
    "n10s.rdf.getIRILocalName('x')",
    "custom.anything(d)",
    "a.b.c.d.e()",
    "date.evil()",
)
OURS = (
    "(n:PgsRun)",
    "(n:`PgsRun`)",
    r"(n:`Pgs\u0052un`)",
    r"(n:Pgs\u0052un)",
    r"(n:\u0060PgsRun\u0060)",
    "(n:Doc|PgsRun)",
    "(n:PgsRun|Doc)",
    "(n:Doc&PgsRun)",
    "(n:!PgsRun)",
    "(n:(Doc|PgsRun))",
    "(n IS PgsRun)",
    "(n:$('PgsRun'))",
    "(n:$('Pgs' + 'Run'))",
    "(n:$(['PgsRun']))",
    "(n:$any(['PgsRun', 'Doc']))",
    "(n:$all(['PgsRun']))",
    "(n:$ /* x */ ('PgsRun'))",
    "(n)",
    "()",
    "(n {id: 'x'})",
    "(n:%)",
    "(n:!Doc)",
    "(n:!Doc&!Topic)",
    "(n:Doc|!Doc)",
    "(n:Doc|%)",
    "(n:!(Doc|Topic))",
    "(n:!%|Doc|!Topic)",
    "(n:PgsPartition)",
    "(n /* : */ :PgsRun)",
    "(n:PgsMeta)",
    "(n:PgsNew)",
    "(n :\tPgsRun)",
    "(n:Pgs /* x */ Run)",
    "(n WHERE n:PgsRun)",
    "(n WHERE true)",
    "(n WHERE n.id IS NOT NULL)",
)
FAR = (
    "(d)--(n)",
    "(d)-->(n)",
    "(d)<--(n)",
    "(d)-[]-(n)",
    "(d)-[r]->(n)",
    "(d)<-[r]-(n)",
    "(d)-[*]-(n)",
    "(d)-[*1..2]->(n)",
    "(d)-[r*..3]-(n)",
    "(d)-[r*0..1]-(n)",
    "(d)-[:PGS_IN]->(n)",
    "(d)-[:`PGS_IN`]-(n)",
    r"(d)-[:PGS\u005fIN]->(n)",
    "(d)-[:CITES|PGS_IN]-(n)",
    "(d)-[r:!CITES]-(n)",
    "(d)-[r:%]-(n)",
    "(d)-[r:CITES|!CITES]-(n)",
    "(d)-[r:!(CITES|ABOUT)]-(n)",
    "(d)-[:$('PGS_' + 'IN')]-(n)",
    "(d)-[:$any(['PGS_IN'])]-(n)",
    "(d)-[r WHERE r.secret IS NOT NULL]-(n)",
    "(d)-[r {secret: 'x'}]-(n)",
    "(d)-[r* {secret: 'x'}]-(n)",
    "(d)-[:CITES]-()--(n)",
    "(d)--()-[:CITES]-(n)",
    "(d)-[:CITES]-(:Doc)-->(n)",
    "(d) (()--())+ (n)",
    "(d) (()-[]->())* (n)",
    "(d) ((a)-[r]-(b)){1,2} (n)",
    "(d) (()--()-[:CITES]-())+ (n)",
    "(d)-[:CITES]-+()--(n)",
    "(d)-+(n)",
    "(d)--{1,3}(n)",
    "(d)-[:PGS_ISOMORPHIC]-(n)",
    "(d)-[r:CITES|%]-(n)",
)
NOT_CYPHER = (
    "SELECT * FROM users",
    "SELECT 1; DROP TABLE users; --",
    "INSERT INTO users VALUES (1)",
    "UPDATE users SET x = 1",
    "DELETE FROM users",
    "WITH t AS (SELECT 1) SELECT * FROM t",
    "SELECT ?s WHERE { ?s ?p ?o }",
    "PREFIX foaf: <http://x/> SELECT ?s WHERE { ?s foaf:name ?n }",
    "ASK { ?s ?p ?o }",
    "DELETE WHERE { ?s ?p ?o }",
    "g.V().hasLabel('Doc').values('name')",
    "g.V().drop()",
    "{ docs { name } }",
    "query { docs { name } }",
    "mutation { drop }",
    "db.docs.find({})",
    '{"query": {"match_all": {}}}',
    "FOR d IN docs RETURN d",
    "Which documents are cited most?",
    "Sure! Here is the query: MATCH (d:Doc) RETURN d",
    "```cypher\nMATCH (d:Doc) RETURN d\n```",
    "MATCH the documents and return them",
    "RETURN",
    "MATCH",
    "MATCH (d:Doc)",
    "MATCH (d:Doc RETURN d",
    "-- x",
    "<xml/>",
    "#!/bin/sh\nrm -rf /",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "' OR 1=1 //",
    "",
    " ",
    ";",
    ";;",
    "\x00",
    "// only a comment",
    "/* open",
    "RETURN 'open",
    "RETURN `open",
    'RETURN "open',
    "\ufeffRETURN 1",
    "RETURN 1 \u2028 # x",
    "MATCH (d:Doc) RETURN d }",
    "RETURN 1 LIMIT -1",
    "RETURN $missing",
    "MATCH (d:Doc {name: $missing}) RETURN d",
    "LET x = 1 RETURN x",
    "FILTER true RETURN 1",
    "FINISH",
    "MATCH (d:Doc) FINISH DELETE d",
)
BOMBS = (
    "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x * y)",
    "UNWIND range(1, 1000000000) AS x RETURN collect(x)",
    "UNWIND range(1, 1000000000) AS x RETURN count(DISTINCT x)",
    "UNWIND range(1, 1000000000) AS x RETURN x ORDER BY x DESC LIMIT 1",
    "UNWIND range(1, 3000000) AS x WITH collect(x) AS xs RETURN [a IN xs | [b IN xs | b]]",
    "UNWIND range(1, 100000) AS x MATCH (a:Doc), (b:Doc), (c:Doc), (e:Doc), (f:Doc) "
    "MATCH (g:Doc), (h:Doc), (i:Doc) RETURN count(*)",
    "UNWIND range(1, 1000000) AS x MATCH p = (:Doc)-[:CITES|ABOUT*0..6]-() RETURN count(p), sum(x)",
    "RETURN [x IN range(1, 1000000000) | x]",
    "RETURN size([x IN range(1, 10 ^ 9) | x])",
    "WITH 1000000000 AS n RETURN [x IN range(1, n) | x]",
    "RETURN [x IN range(0, 1000 * 1000 * 1000) | x]",
    "RETURN [x IN range(-1000000000, 1000000000) | x]",
    "RETURN [x IN range(1, 0x3fffffff) | x]",
    "MATCH (d:Doc) RETURN [x IN range(1, d.year * 100000) | x]",
    "MATCH (d:Doc) RETURN [x IN range(0, d.big) | x]",
    "RETURN any(x IN range(1, 1000000) WHERE all(y IN range(1, 1000000) WHERE x < 0))",
    "RETURN [x IN range(1, 999) | [y IN range(1, 999) | [z IN range(1, 999) | x]]]",
    "RETURN reduce(s = 0, x IN range(1, 99999) | s + reduce(t = 0, y IN range(1, 99999) | t + y))",
    "RETURN reduce(s = 0, x IN range(1, 1000000000) | s + x)",
    "RETURN size(reduce(s = 'ab', i IN range(1, 60) | s + s))",
    "RETURN reduce(s = [1], i IN range(1, 60) | s + s)",
    "RETURN reduce(s = [1], i IN range(1, 60) | [s, s])",
    "RETURN reduce(m = {a: 1}, i IN range(1, 60) | {a: m, b: m})",
    "RETURN reduce(s = [], i IN range(1, 900) | [s])",
    "RETURN reduce(s = [1], i IN range(1, 60) | [x IN [1, 2] | s])",
    "RETURN reduce(s = 'a', i IN range(1, 60) | replace('aa', 'a', s))",
    "RETURN reduce(s = 'a', i IN range(1, 60) | s + CASE WHEN true THEN s END)",
    "RETURN reduce(s = 'a', i IN range(1, 60) | CASE WHEN true THEN s + s END)",
    "RETURN reduce(s = 'a', i IN range(1, 60) | CASE WHEN true THEN s ELSE s END + s)",
    "WITH 'abcdefgh' AS s " + "WITH s + s AS s " * 60 + "RETURN size(s)",
    "WITH [1, 2] AS s " + "WITH s + s AS s " * 60 + "RETURN [x IN s | x]",
    "WITH 'aaaaaaaa' AS s " + "WITH replace(s, 'a', s) AS s " * 6 + "RETURN size(s)",
    "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' =~ '(a+)+c'",
    "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' =~ '(a|aa)*c'",
    "RETURN 'aaab' =~ '(a*)*{2,}'",
    "RETURN 'aaab' =~ 'a*a*a*a*a*a*a*a*a*c'",
    "RETURN 'aaab' =~ '" + "a?" * 40 + "a{40}'",
    "RETURN 'aaab' =~ ('(a+)' + '+c')",
    "WITH '(a+)+c' AS r RETURN 'aaab' =~ r",
    "RETURN 'aaab' =~ ['(a+)+c'][0]",
    "RETURN 'aaab' =~ '(a+)' + '+c'",
    r"RETURN 'aaab' =~ '(\\w+\\s?)*x'",
    "RETURN " + "(" * 4000 + "1" + ")" * 4000,
    "RETURN " + "(" * 100 + "1" + ")" * 100,
    "RETURN " + "[" * 4000 + "1" + "]" * 4000,
    "RETURN " + "NOT " * 4000 + "true",
    "RETURN " + "NOT " * 60 + "true",
    "RETURN " + "1 + " * 4000 + "1",
    "RETURN " + "-" * 9000 + "1",
    "RETURN " + "CASE WHEN true THEN " * 700 + "1" + " END" * 700,
    "MATCH (d:Doc) WHERE " + " XOR ".join(f"d.a{i} = 1" for i in range(40)) + " RETURN d",
    "MATCH " + "-[:CITES]-".join(f"(n{i}:Doc)" for i in range(40)) + " RETURN 1",
    "MATCH "
    + ", ".join(f"(n{i})-[:CITES]-(n{j})" for i in range(9) for j in range(i))
    + " RETURN 1",
    " UNION ".join(["RETURN 1 AS a"] * 1000),
    "CALL { " * 300 + "RETURN 1 AS a" + " } RETURN a" * 300,
    "RETURN '" + "a" * 10_000_000 + "'",
    "MATCH (d:Doc) RETURN d" + " " * 10_000_000,
    "RETURN [" + "1," * 5_000_000 + "1]",
    "/*" + "x" * 10_000_000 + "*/ RETURN 1",
    "MATCH " * 1_700_000,
)


def hostile_statements() -> Iterator[str]:
    """Yield every attack but the bombs, without repetition."""
    yield from dict.fromkeys(_all())


def _all() -> Iterator[str]:
    yield from _writes()
    yield from _files_and_graphs()
    yield from _procedures()
    yield from _functions()
    yield from _our_nodes()
    yield from _hidden_subqueries()
    yield from NOT_CYPHER


def _writes() -> Iterator[str]:
    harmless = "MATCH (d:Doc) RETURN d"
    for write in (*WRITES, *SCHEMA, *ADMINISTRATION):
        yield write
        yield f"{harmless}; {write}"
        yield f"{write}; {harmless}"
        yield f"/* {harmless} */ {write} // {harmless}"
        yield _escape_first(write)
        yield write.lower()
    for write in WRITES:
        yield f"{write} RETURN 1 AS one"
        yield f"MATCH (d:Doc) CALL {{ {write} }} RETURN d"
        yield f"MATCH (d:Doc) CALL (d) {{ {write} }} RETURN d"
        yield f"UNWIND [1] AS i CALL {{ {write} }} IN TRANSACTIONS"
        yield f"UNWIND [1] AS i CALL {{ {write} }} IN 2 CONCURRENT TRANSACTIONS OF 1 ROW RETURN i"
        yield f"RETURN 1 AS x UNION {write} RETURN 1 AS x"
        yield f"RETURN EXISTS {{ {write} RETURN 1 }} AS x"
        yield f"RETURN [i IN [1] | COLLECT {{ {write} RETURN 1 }}] AS x"
        for prefix in ("EXPLAIN", "PROFILE", "CYPHER 5", "CYPHER 25", "CYPHER runtime=slotted"):
            yield f"{prefix} {write}"


def _escape_first(statement: str) -> str:
    r"""Return a statement whose first letter of each keyword is written as ``\uXXXX``."""
    words = statement.split(" ")
    return " ".join(
        f"\\u{ord(word[0]):04x}{word[1:]}" if word.isupper() else word for word in words
    )


def _files_and_graphs() -> Iterator[str]:
    addresses = (
        "'file:///etc/passwd'",
        "'http://127.0.0.1:1/x'",
        "'ftp://127.0.0.1:1/x'",
        "'https://' + 'x'",
        r"'\u0066ile:///etc/passwd'",
    )
    for address in addresses:
        for load in (
            f"LOAD CSV FROM {address} AS row",
            f"LOAD CSV WITH HEADERS FROM {address} AS row",
        ):
            yield f"{load} RETURN row"
            yield f"MATCH (d:Doc) {load} RETURN row"
            yield f"MATCH (d:Doc) CALL {{ {load} RETURN row }} RETURN row"
            yield f"RETURN COLLECT {{ {load} RETURN row }} AS x"
            yield f"RETURN [i IN [1] | COUNT {{ {load} RETURN row }}] AS x"
            yield f"MATCH (d:Doc) WHERE EXISTS {{ {load} RETURN row }} RETURN d"
            yield load.replace("LOAD", "LO/**/AD") + " RETURN row"
            yield load.replace("CSV", r"\u0043SV") + " RETURN row"
            yield load.replace("LOAD CSV", "LOAD/* x */CSV") + " RETURN row"
            yield load.replace("LOAD", r"\u004cOAD") + " RETURN row"
    for name in (
        "neo4j",
        "system",
        "`neo4j`",
        "graph.byName('neo4j')",
        "graph.byElementId('4:x:0')",
    ):
        for read in ("MATCH (d:Doc) RETURN d", "MATCH (n) RETURN n", "SHOW USERS"):
            yield f"USE {name} {read}"
            yield f"/* x */ USE {name} {read}"
            yield f"\\u0055SE {name} {read}"
            yield f"CALL {{ USE {name} {read} }} RETURN 1"
            yield f"UNWIND [1] AS i CALL (i) {{ USE {name} {read} }} RETURN i"
            yield f"RETURN 1 AS x UNION USE {name} RETURN 1 AS x"
            yield f"RETURN EXISTS {{ USE {name} MATCH (d:Doc) }} AS x"
    for prefix in (
        "EXPLAIN",
        "PROFILE",
        "CYPHER 5",
        "CYPHER planner=dp",
        "EXPLAIN PROFILE",
        "cypher 25",
    ):
        yield f"{prefix} MATCH (d:Doc) RETURN d"
        yield f"/**/ {prefix} MATCH (n) RETURN n"
        yield f"{_escape_first(prefix)} MATCH (d:Doc) RETURN d"


def _procedures() -> Iterator[str]:
    for call in PROCEDURES:
        namespace, _, rest = call.partition(".")
        for written in (call, f"`{namespace}`.{rest}", f"{namespace} . {rest}", f"/* x */ {call}"):
            yield f"CALL {written}"
            yield f"CALL {written} YIELD *"
        yield f"OPTIONAL CALL {call} YIELD *"
        yield f"MATCH (d:Doc) CALL {call} YIELD * RETURN 1"
        yield f"CALL {{ CALL {call} YIELD * RETURN 1 AS x }} RETURN x"
        yield f"RETURN [i IN [1] | COUNT {{ CALL {call} YIELD * RETURN 1 }}] AS x"
        yield f"\\u0043ALL {call}"
        yield f"CALL {call.split('(')[0]}"


def _functions() -> Iterator[str]:
    for call in FUNCTIONS:
        namespace, _, rest = call.partition(".")
        for written in (
            call,
            f"`{namespace}`.{rest}",
            f"{namespace} /* . */ . {rest}",
            f"{namespace}.\n{rest}",
        ):
            yield f"MATCH (d:Doc) RETURN {written} AS x"
            yield f"MATCH (d:Doc) WITH d, [y IN [d] | {written}] AS x RETURN x"
        yield f"MATCH (d:Doc) WHERE {call} IS NOT NULL RETURN d"
        yield f"MATCH (d:Doc) CALL (d) {{ RETURN {call} AS x }} RETURN x"


def _our_nodes() -> Iterator[str]:
    for node in OURS:
        yield f"MATCH {node} RETURN 1"
        yield f"MATCH p = {node} RETURN p"
        yield f"OPTIONAL MATCH {node} RETURN count(*)"
        yield f"MATCH (d:Doc), {node} RETURN count(*)"
        yield f"MATCH (d:Doc) WHERE EXISTS {{ MATCH {node} }} RETURN d"
        yield f"MATCH (d:Doc) RETURN COUNT {{ {node} }} AS x"
        yield f"CALL {{ MATCH {node} RETURN count(*) AS x }} RETURN x"
        yield f"RETURN 1 AS x UNION MATCH {node} RETURN count(*) AS x"
    for far in FAR:
        yield f"MATCH (d:Doc) MATCH {far} RETURN n"
        yield f"MATCH {far.replace('(d)', '(d:Doc)', 1)} RETURN count(*)"
        yield f"MATCH (d:Doc) MATCH p = {far} RETURN p"
        yield f"MATCH (d:Doc) OPTIONAL MATCH {far} RETURN count(n)"
        yield f"MATCH (d:Doc) WHERE EXISTS {{ MATCH {far} }} RETURN d"
        yield f"MATCH (d:Doc) RETURN COUNT {{ {far} }} AS x"
        yield f"MATCH (d:Doc) RETURN COLLECT {{ MATCH {far} RETURN n.id }} AS x"
        yield f"MATCH (d:Doc) CALL (d) {{ MATCH {far} RETURN n }} RETURN n"
        yield f"MATCH (d:Doc) MATCH p = SHORTEST 1 {far} RETURN p"
    for path in ("[*]", "[*..3]", "[r*]", "[:PGS_IN*]", "[:CITES|PGS_IN*..4]"):
        for kind in ("shortestPath", "allShortestPaths", "SHORTESTPATH"):
            yield f"MATCH p = {kind}((a:Doc)-{path}-(b:Topic)) RETURN p"
            yield f"MATCH (a:Doc), (b:Topic) RETURN {kind}((a)-{path}-(b)) AS p"
            yield f"MATCH (a:Doc), (b:Topic) WHERE length({kind}((a)-{path}-(b))) > 0 RETURN a"
            yield f"MATCH (a:Doc), (b:Topic) RETURN [i IN [1] | {kind}((a)-{path}-(b))] AS p"
    for by_id in (
        "elementId(n) = '4:x:0'",
        "id(n) = 0",
        "id(n) IN [0, 1, 2, 3, 4, 5]",
        "elementId(n) IN ['4:x:0']",
        "id(n) >= 0",
    ):
        yield f"MATCH (n) WHERE {by_id} RETURN n"
        yield f"MATCH (d:Doc), (n) WHERE {by_id} RETURN n"
        found = f"COLLECT {{ MATCH (n) WHERE {by_id} RETURN n.id }}"
        yield f"MATCH (d:Doc) RETURN [i IN [1] | {found}] AS x"
        yield f"MATCH ()-[n]->() WHERE {by_id} RETURN n"
        yield f"MATCH ()-[n]-() WHERE {by_id} RETURN startNode(n)"


def _hidden_subqueries() -> Iterator[str]:
    """Yield subqueries in places where a plan shows them only as text."""
    reads = (
        *(f"MATCH {far} RETURN n.uid AS u" for far in FAR),
        *(f"MATCH {node} RETURN 1 AS u" for node in OURS),
        "MATCH (q:Doc) RETURN q.name AS u UNION MATCH (n) RETURN n.id AS u",
        "MATCH (d)-[:CITES]-(n) MATCH (m) RETURN m.id AS u",
        "MATCH (d)-[:CITES]-(n), (m) RETURN m.id AS u",
        "MATCH (d)-[:CITES]-(n) WHERE EXISTS { (n)--(:Doc) } RETURN n.name AS u",
        "CALL { MATCH (n) RETURN n.id AS u } RETURN u",
        "OPTIONAL MATCH (n) RETURN n.id AS u",
        "MATCH p = shortestPath((d)-[*]-(n:Topic)) RETURN length(p) AS u",
        "UNWIND [1] AS i MATCH (n) RETURN n.id AS u",
        "MATCH (n)-->() RETURN n.id AS u",
        "MATCH (d)-[`a]-(b:C`]-(n) RETURN n.id AS u",
        "MATCH (`x) RETURN 1 } `)-[r]-(n) RETURN n.id AS u",
        "MATCH (n) WHERE n.id <> \"'\" AND n.id <> '\"' RETURN n.id AS u",
    )
    for read in reads:
        yield f"MATCH (d:Doc) RETURN [i IN [1] | COLLECT {{ {read} }}] AS x"
        yield f"MATCH (d:Doc) RETURN CASE WHEN d.year > 1 THEN EXISTS {{ {read} }} END AS x"
        yield f"MATCH (d:Doc) RETURN count(CASE WHEN COUNT {{ {read} }} > 0 THEN 1 END) AS x"
        yield f"MATCH (d:Doc) WHERE any(i IN [1] WHERE EXISTS {{ {read} }}) RETURN d"
        yield f"MATCH (d:Doc) RETURN reduce(s = 0, i IN [1] | s + COUNT {{ {read} }}) AS x"
        yield f"MATCH (d:Doc)-[c:CITES* {{page: COUNT {{ {read} }}}}]->(e) RETURN e"
    for inner in ("[(n)--(m) | m.id]", "COUNT { (n)--(:Doc) }", "[(n)-[r]-(m) | r.secret]"):
        returned = f"MATCH (d)-[:CITES]-(n) RETURN {inner}"
        yield f"MATCH (d:Doc) RETURN [i IN [1] | COLLECT {{ {returned} }}] AS x"
        yield f"MATCH (d:Doc) RETURN CASE WHEN d.year > 1 THEN COLLECT {{ {returned} }} END AS x"
    for far in FAR:
        yield f"MATCH (d:Doc) RETURN [i IN [1] | [{far} | n.uid]] AS x"
        yield f"MATCH (d:Doc) RETURN [p = {far} | p] AS x"
        yield f"MATCH (d:Doc) RETURN d {{ .name, x: [{far} | n.uid] }} AS x"
        yield f"MATCH (d:Doc) WHERE NOT {far.replace('(n)', '()')} RETURN d"
        yield f"MATCH (d:Doc) RETURN exists({far.replace('(n)', '(:Topic)')}) AS x"
