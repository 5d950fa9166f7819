"""Judge 6,000 hostile texts in five Markdown renderers, two of them for Node.

Not part of CI, which has no Node. In a folder where `npm install marked showdown markdown-it` ran:

    PYTHONPATH=…/pgs_neo4j python -m tests.bench.renderers --texts 6000
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pgs_neo4j.export.written import inert, inert_blocks
from pgs_neo4j.text.shown import one_line
from tests.renderers import Judge, hostile_texts, markdown_it

SCRIPT = """
const {createRequire} = require("module");
const need = createRequire(process.cwd() + "/");
const {marked} = need("marked"), showdown = need("showdown"), MarkdownIt = need("markdown-it");
const plain = new showdown.Converter(), github = new showdown.Converter();
github.setFlavor("github");
const linking = new MarkdownIt({html: true, linkify: true});
const renderers = {
  marked: text => marked.parse(text),
  showdown: text => plain.makeHtml(text),
  "showdown, as GitHub": text => github.makeHtml(text),
  "markdown-it, linking": text => linking.render(text),
};
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const rendered = Object.entries(renderers).map(([name, render]) => [name, texts.map(render)]);
console.log(JSON.stringify(Object.fromEntries(rendered)));
"""


def main() -> None:
    """Print the number of texts that each renderer made live, and the first of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=6_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    # GitHub's short names of pictures are no elements; showdown draws them if asked to.
    drawn = hostile_texts(options.texts, options.seed)
    texts = [text.replace(":smile:", ":") for text in drawn]
    files = [written(text) for text in texts]
    for name, pages in rendered(files):
        live = [text for text, page in zip(texts, pages, strict=True) if wrong(text, page)]
        sys.stdout.write(f"{name:<24} {len(live)} of {len(texts)} {live[:1] or ''}\n")


def written(text: str) -> str:
    """A file with a text as a name of the graph, and as an answer."""
    answer = inert_blocks(text, lambda group: f"[{inert(group[0].text)}]")
    return f"# Next\n\n{inert(text)}\n\n# Next\n\n{answer}\n\n[a] [P1:n2] [x] [^1]\n"


def wrong(text: str, page: str) -> bool:
    """Whether something is live, or the name is not what it was."""
    name = " ".join(Judge(page.split("</h1>")[1].split("<h1")[0]).text.split())
    return bool(Judge(page).live) or name != one_line(text)


def rendered(files: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Every renderer with its pages."""
    import cmarkgfm
    import markdown

    unsafe = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    yield "markdown-it for Python", [markdown_it(text) for text in files]
    yield "Python-Markdown", [markdown.markdown(text) for text in files]
    yield "cmark-gfm", [cmarkgfm.github_flavored_markdown_to_html(text, unsafe) for text in files]
    node = subprocess.run(
        ["node", "-e", SCRIPT], input=json.dumps(files), capture_output=True, text=True, check=True,
        cwd=Path.cwd(),
    )  # fmt: skip
    yield from json.loads(node.stdout).items()


if __name__ == "__main__":
    main()
