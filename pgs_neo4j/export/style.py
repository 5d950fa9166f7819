"""The style sheets of the page and of the notebook cell."""

from __future__ import annotations

LIGHT = """\
  --bg: #fbfbfa; --panel: #ffffff; --ink: #1b2025; --muted: #5a636d; --line: #e0e3e7;
  --accent: #1d5a9e; --tint: #e8eff8; --code: #f1f2f4;
  --read: #3c6ea8; --partial: #96640f; --failed: #b23c36; --unread: #d8dce1; --unproven: #b39ce0;
  --on: #ffffff; --on-unread: #3c444d; --hatch: rgba(12, 20, 32, .26);
  --good: #21663d; --good-bg: #e4f2e9; --warn: #85560a; --warn-bg: #fbf0da;
  --bad: #9c2f2a; --bad-bg: #fae6e4; --shadow: rgba(20, 28, 38, .22);
"""
DARK = """\
  --bg: #14171a; --panel: #1a1e22; --ink: #e2e5e9; --muted: #99a3ad; --line: #2c3238;
  --accent: #86b6ee; --tint: #1e2c3c; --code: #22272c;
  --read: #3f6da6; --partial: #94661a; --failed: #a8423c; --unread: #30363d; --unproven: #5a4690;
  --on: #f4f6f8; --on-unread: #aeb7c0; --hatch: rgba(255, 255, 255, .2);
  --good: #86d0a1; --good-bg: #1b3325; --warn: #e3b661; --warn-bg: #372b14;
  --bad: #f0938d; --bad-bg: #3b201e; --shadow: rgba(0, 0, 0, .6);
"""
"""The declarations of all colors, for light and dark mode."""

PAGE = (
    f"""
:root {{
  color-scheme: light dark;
{LIGHT}}}
@media screen and (prefers-color-scheme: dark) {{
  :root {{
{DARK}  }}
}}
"""
    + """\
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--bg); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.5rem 3rem; }
h1 {
  font-size: 1.75rem; line-height: 1.28; font-weight: 650; letter-spacing: -.012em;
  margin: .3rem 0 .6rem; text-wrap: balance;
}
h1.long { font-size: 1.25rem; line-height: 1.4; font-weight: 600; text-wrap: pretty; }
h2 {
  font-size: 1.2rem; line-height: 1.3; font-weight: 650; margin: 3rem 0 .9rem;
  padding-top: 1.1rem; border-top: 1px solid var(--line);
}
h3 { font-size: 1.02rem; font-weight: 650; margin: 1.8rem 0 .5rem; }
h4, h5, h6, .report h3 {
  font-size: .85rem; font-weight: 650; margin: 1.3rem 0 .35rem; color: var(--muted);
}
p { margin: 0 0 .9rem; }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: 1px; }
ul, ol { margin: 0 0 .9rem; padding-left: 1.35rem; }
li { margin: .3rem 0; }
li::marker { color: var(--muted); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, .part, .text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font-size: .88em; background: var(--code); border-radius: 3px; padding: .08em .3em; }
pre { background: var(--code); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; }
pre code { background: none; padding: 0; }
blockquote { margin: 0 0 .9rem; padding-left: 1rem; border-left: 3px solid var(--line); }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.6rem 0; }
.eyebrow, .meta { color: var(--muted); font-size: .85rem; line-height: 1.5; }
.eyebrow { margin: 0; letter-spacing: .01em; }
.meta { margin: .1rem 0 .4rem; }
.note { color: var(--muted); }
.part { font-size: .86em; font-weight: 600; white-space: nowrap; }
.course, .kept { white-space: nowrap; }

.lead { font-size: 1.12rem; line-height: 1.55; margin: 1.1rem 0 1.3rem; }
.lead p:last-child { margin-bottom: 0; }
.facts {
  display: grid; grid-template-columns: 1fr 1fr; gap: .9rem; margin: 0 0 1.3rem;
  align-items: start;
}
.facts section {
  padding: .75rem 1rem .8rem; border: 1px solid var(--line); border-radius: 8px;
  background: var(--panel); font-size: .88rem; line-height: 1.5;
}
.facts h2 { border: 0; padding: 0; margin: 0 0 .35rem; font-size: .88rem; }
.facts p { margin: 0 0 .35rem; }
.facts ul { margin: 0; padding-left: 1.05rem; }
.facts li { margin: 0 0 .25rem; }
.facts .notes { background: var(--warn-bg); border-color: var(--warn-bg); }
.facts .notes h2 { color: var(--warn); }
nav { border-top: 1px solid var(--line); padding-top: .7rem; font-size: .9rem; }
nav ul {
  list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; padding: 0; margin: 0;
}
nav a { display: inline-block; padding: .2rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }

.prose table { display: block; width: max-content; max-width: 100%; overflow-x: auto; }
.prose h3:first-child { margin-top: .4rem; }
.cites { color: var(--muted); font-size: .9em; }
button { font: inherit; color: inherit; cursor: pointer; }
.cite {
  display: inline; margin: 0; padding: .02em .3em; border: 0; border-radius: 4px;
  background: var(--tint); color: var(--accent); user-select: text;
  font-size: .95em; font-weight: 500; line-height: 1.35; text-align: left;
}
.cite:hover { background: var(--accent); color: var(--bg); }
.invalid { color: var(--bad); font-size: .9em; text-decoration-thickness: 1px; }
.sources { list-style: none; padding: 0; columns: 21rem 2; column-gap: 2.2rem; }
.sources li { break-inside: avoid; margin: 0 0 .45rem; line-height: 1.4; font-size: .94rem; }
.sources .key-of { color: var(--muted); font-size: .85em; }

figure { margin: 1rem 0 .8rem; }
.map { display: block; width: 100%; height: auto; border-radius: 6px; }
.map.narrow { display: none; }
.cell { stroke: var(--bg); stroke-width: 1.5; }
.read > .cell, .done { fill: var(--read); }
.partial > .cell { fill: var(--partial); }
.failed > .cell { fill: var(--failed); }
.unread > .cell { fill: var(--unread); }
.unproven > .cell, .shown { fill: var(--unproven); }
.map .pool { pointer-events: none; }
.hatch { stroke: var(--hatch); stroke-width: 2.5; }
.track { fill: var(--unread); }
.map text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--on); }
.map .name { font-weight: 650; }
.map .unread text { fill: var(--on-unread); }
.map .unproven text { fill: var(--ink); }
.map text { pointer-events: none; }
.map a:hover .cell { stroke: var(--ink); }
.legend {
  list-style: none; margin: .7rem 0 1rem; padding: 0; display: flex; flex-wrap: wrap;
  gap: .3rem 1.3rem; font-size: .85rem; color: var(--muted);
}
.legend li { margin: 0; }
.key {
  display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em;
}
.key.read { background: var(--read); }
.key.partial { background: var(--partial); }
.key.failed { background: var(--failed); }
.key.unread { background: var(--unread); }
.key.unproven { background: var(--unproven); }
.key.pooled {
  background: repeating-linear-gradient(
    135deg, var(--muted) 0 1.5px, transparent 1.5px 4px);
}

.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; line-height: 1.45; }
th, td {
  text-align: left; vertical-align: top; padding: .45rem .8rem .45rem 0;
  border-bottom: 1px solid var(--line);
}
thead th { font-size: .8rem; font-weight: 600; color: var(--muted); overflow-wrap: normal; }
tbody th { font-weight: 400; }
.right { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.matrix { width: 100%; }
.matrix tbody th { min-width: 17rem; padding: .7rem 1rem .7rem 0; }
.matrix tbody th .meta { font-size: .8rem; margin: .2rem 0 0; }
.matrix .mark {
  text-align: center; padding: .7rem .3rem; min-width: 2.2rem; border-left: 1px solid var(--line);
}
.matrix thead .mark { padding: .45rem .3rem; }
.mark .cite { background: none; padding: .1em .45em; font-size: 1em; }
.reports { color: var(--muted); }
.seen-read { color: var(--bad); }
.seen-unread { color: var(--warn); }
.mark .cite:hover { background: var(--tint); }
.badge {
  display: inline-block; padding: .08em .55em; border-radius: 99px; font-size: .76rem;
  line-height: 1.5; font-weight: 550; white-space: nowrap; background: var(--code);
  color: var(--muted); vertical-align: .06em;
}
.badge.confirmed, .badge.answered { color: var(--good); background: var(--good-bg); }
.badge.elsewhere, .badge.partial, .badge.warn, .badge.open {
  color: var(--warn); background: var(--warn-bg);
}
.badge.contradicted, .badge.failed { color: var(--bad); background: var(--bad-bg); }
.badge.read, .badge.accepted { color: var(--accent); background: var(--tint); }
.badge.unproven { color: var(--ink); background: var(--unproven); }
.meta.warn { color: var(--warn); }

.cards { list-style: none; padding: 0; }
.cards > li { padding: .7rem 0; margin: 0; border-bottom: 1px solid var(--line); }
.cards > li:last-child { border-bottom: 0; }
.cards ul, .absent { margin: .35rem 0 0; font-size: .93rem; }
.absent { padding-left: .9rem; border-left: 2px solid var(--good); }
details { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: .55rem 0; }
summary::marker { color: var(--muted); }
summary .keywords { color: var(--muted); font-size: .92rem; }
summary .tally { font-size: .85rem; color: var(--muted); }
.report { padding: 0 0 1rem 1.1rem; scroll-margin-top: 4rem; }
.record {
  display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.4rem; margin: 0;
  font-size: .94rem;
}
.record dt { color: var(--muted); }
.record dd { margin: 0; font-variant-numeric: tabular-nums; }
footer { margin-top: 3rem; color: var(--muted); font-size: .82rem; }

.node {
  width: min(44rem, calc(100vw - 2rem)); max-height: min(80vh, 48rem); overflow-y: auto;
  padding: 0 1.4rem 1.4rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--panel); color: var(--ink); box-shadow: 0 12px 40px var(--shadow);
}
.node::backdrop { background: rgba(10, 14, 20, .28); }
.bar {
  position: sticky; top: 0; display: flex; justify-content: space-between; align-items: center;
  padding: 1rem 0 .5rem; background: var(--panel); color: var(--muted);
}
.close {
  border: 1px solid var(--line); border-radius: 6px; padding: .15rem .7rem; font-size: .85rem;
  background: none;
}
.close:hover { background: var(--tint); }
.node .title { font-size: 1.1rem; font-weight: 650; line-height: 1.35; margin: 0 0 .2rem; }
.node .text {
  margin-top: .8rem; padding-top: .9rem; border-top: 1px solid var(--line);
  font-size: .86rem; line-height: 1.6; white-space: pre-wrap;
}

@media (max-width: 640px) {
  body { font-size: 15px; }
  main { padding: 1.4rem 1rem 2rem; }
  h1 { font-size: 1.4rem; }
  .facts { grid-template-columns: 1fr; }
  .kept { white-space: normal; }
  .map.wide { display: none; }
  .map.narrow { display: block; }
  .matrix tbody th { min-width: 13rem; }
  .record { grid-template-columns: 1fr; gap: 0; }
  .record dd { margin-bottom: .6rem; }
  .report { padding-left: .2rem; }
}
@media print {
  :root { --bg: #ffffff; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  h2, h3, h4 { break-after: avoid; }
  li, tr, figure, .facts section { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .scroll { overflow: visible; }
  .map, .key, .badge, .facts section, .cite { print-color-adjust: exact; }
}
"""
)

NOTEBOOK = """
.pgs-answer { max-width: 52rem; line-height: 1.5; overflow-wrap: anywhere; }
.pgs-answer .pgs-question { font-size: 1.15em; font-weight: 600; margin: 0 0 .5em; }
.pgs-answer .pgs-meta { opacity: .72; font-size: .88em; margin: .2em 0; }
.pgs-answer .pgs-cite { font-family: monospace; font-size: .88em; color: #3f7cc0; }
.pgs-answer .pgs-invalid { font-size: .9em; color: #c4473f; }
.pgs-answer .pgs-bar { display: block; width: 100%; height: 6px; margin: .8em 0 .3em; }
.pgs-answer .pgs-all { fill: #808080; fill-opacity: .28; }
.pgs-answer .pgs-done { fill: #3f7cc0; }
.pgs-answer .pgs-shown { fill: #8f74cc; }
.pgs-answer .pgs-sources { margin: .3em 0; padding-left: 1.2em; }
.pgs-answer .pgs-note { margin: .3em 0; color: #b07d1e; }
.pgs-answer summary { cursor: pointer; }
.pgs-answer table { border-collapse: collapse; margin: .3em 0; font-size: .92em; color: inherit; }
.pgs-answer tr, .pgs-answer tbody tr:nth-child(odd) { background: none; }
.pgs-answer th, .pgs-answer td { padding: .2em .8em .2em 0; border: 0; color: inherit; }
.pgs-answer th, .pgs-answer td { text-align: left; vertical-align: top; }
.pgs-answer .pgs-rows th, .pgs-answer .pgs-figures th { font-weight: 600; opacity: .72; }
.pgs-answer .pgs-figures th { white-space: nowrap; }
.pgs-answer .pgs-right { text-align: right; font-variant-numeric: tabular-nums; }
"""
