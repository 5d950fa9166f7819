"""Makes a site of the manual that stands in the package: python .github/site/build.py FOLDER.

It needs the extra site. Links that lead nowhere, and all other warnings, are errors.
"""

import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from pgs_neo4j.manual import TOPICS, read_page

OPENING = """# Partitioned Graph Synthesis on Neo4j

Top-k retrieval reads a few dozen nodes of your knowledge graph and cannot say what is missing.
`pgs` reads all of the graph that matters, says exactly how much of it was read, and cites the nodes
that its answer rests on.

```sh
pip install 'pgs-neo4j[local]'
pgs demo
```
"""


def index() -> str:
    """Return the first page, with a list of the topics."""
    listed = "\n".join(f"- [{topic}]({topic}.md): {about}" for topic, about in TOPICS.items())
    tree = "\n".join(("```{toctree}", ":hidden:", "", *TOPICS, "```"))
    return f"{OPENING}\n{listed}\n\n{tree}\n"


def build(target: Path) -> int:
    """Write the site into a folder; returns the exit code of Sphinx."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "index.md").write_text(index(), encoding="utf-8")
        for topic in TOPICS:
            (source / f"{topic}.md").write_text(read_page(topic), encoding="utf-8")
        settings = str(Path(__file__).parent)
        given = ("-q", "-W", "--keep-going", "-b", "html", "-d", f"{folder}/.doctrees")
        return int(sphinx([*given, "-c", settings, folder, str(target)]))


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
