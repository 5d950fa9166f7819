"""What shows in a browser that a text became more than text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

LOOK_S, WAIT_S = 0.05, 180.0

REPORTS = """document.addEventListener('securitypolicyviolation', (event) =>
  reported(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`))"""
MADE = """() => {
  const own = new Set(`html head meta title link style script body a header div main aside p
    noscript nav ul ol li h1 h2 h3 h4 h5 h6 span b s em strong code pre button select option
    input textarea form label section footer table caption thead tbody tr th td dl dt dd
    progress details summary br hr mark canvas dialog kbd article figure figcaption time
    blockquote del svg line circle text g path rect defs pattern`.split(/\\s+/));
  const bad = /^on|^srcdoc$|^(form)?action$|^xlink/;
  const listed = [];
  const kinds = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_COMMENT;
  const walker = document.createTreeWalker(document, kinds);
  for (let one = walker.nextNode(); one; one = walker.nextNode()) {
    if (one instanceof Comment) {
      listed.push(`<!--${one.data.slice(0, 80)}`);
      continue;
    }
    const names = one.getAttributeNames();
    const link = one.getAttribute('href') ?? one.getAttribute('src') ?? '/';
    if (!own.has(one.localName) || one.classList.contains('owned') || !/^[/#]/.test(link)
      || /^[/][/]/.test(link) || names.some((name) => bad.test(name))
      || (one.localName === 'script' && link !== '/app.js')
      || (['link', 'meta', 'style'].includes(one.localName) && one.parentNode !== document.head)
      || (one.localName === 'title' && one.parentNode !== document.head && !one.closest('svg'))) {
      listed.push(one.outerHTML.slice(0, 200));
    }
  }
  return listed;
}"""
MISSING = """(marks) => {
  const all = (which) => [...document.querySelectorAll(which)];
  for (const one of all('details')) one.open = true;
  const values = all('input, textarea').map((one) => one.value);
  const texts = all('option, svg title, [popover]').map((one) => one.textContent);
  const shown = [document.body.innerText, ...values, ...texts].join('\\n').toLowerCase();
  const found = window.seenMarks ??= new Set();
  for (const mark of shown.match(/zq\\d{3}[a-z_]*0/g) || []) found.add(mark);
  return marks.filter((mark) => !found.has(mark));
}"""


@dataclass
class Watch:
    """Notes scripts of texts that ran, reports of the policy, dialogs, and requests elsewhere."""

    base: str
    problems: list[str] = field(default_factory=list)

    async def begin(self, place: BrowserContext) -> None:
        """Watch all pages of a context."""
        note = self.problems.append
        await place.expose_function("owned", lambda mark="": note(f"ran: {mark}"))
        await place.expose_function("reported", lambda told: note(f"reported: {told}"))
        await place.add_init_script(REPORTS)
        # Playwright marks what listens, and a method cannot be marked.
        place.on("page", lambda page: self._add(page))  # noqa: PLW0108

    def _add(self, page: Page) -> None:
        note = self.problems.append
        page.on("dialog", lambda dialog: note(f"a dialog: {dialog.message}"))
        page.on("pageerror", lambda error: note(f"an error: {error}"))
        page.on("popup", lambda popup: note(f"a window: {popup.url}"))
        page.on("request", lambda request: self._take(request.url))

    def _take(self, url: str) -> None:
        if not url.startswith(self.base):
            self.problems.append(f"a request: {url}")


async def check_inert(page: Page, watch: Watch, marks: Sequence[str]) -> None:
    """Wait until the page has shown all marks; nothing else may have become of their texts."""
    await wait_for_marks(page, marks)
    problems = [*await made_of_texts(page), *watch.problems]
    assert not problems, (page.url[:200], problems)


async def made_of_texts(page: Page) -> list[str]:
    """The elements and comments that the page itself never makes."""
    return list(await page.evaluate(MADE))


async def note_marks(page: Page) -> None:
    """Note the marks that are shown now, since some may go."""
    await page.evaluate(MISSING, [])


async def wait_for_marks(page: Page, marks: Sequence[str]) -> None:
    """Wait until the page has shown all marks since it was loaded."""
    clock, missing = asyncio.get_running_loop().time, [*marks]
    end = clock() + WAIT_S
    while missing and clock() < end:
        missing = await page.evaluate(MISSING, missing)
        if missing:
            await asyncio.sleep(LOOK_S)
    assert not missing, (page.url[:200], "not shown", missing)
