"""Measures the page in Chromium: its size, when it can be used, and how the map moves.

    pip install -e '.[test,browser]'
    python -m tests.bench.page

The answers of the server's API are made up, so no database is needed. A slow machine is one whose
CPU Chromium slows down four times. The map has 1,000 partitions and 5,000 adjacencies, and is
dragged and zoomed for some seconds; a gap is the time between two frames.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from statistics import median, quantiles
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.browse.maps import FRAME
from pgs_neo4j.export.treemap import squarify
from pgs_neo4j.graph.layout import lay_out
from pgs_neo4j.web.page import page_files
from tests.fakes.tokens import unchanged
from tests.serving import served

if TYPE_CHECKING:
    from playwright.async_api import Page, Route

PLACES, LINKS = 1000, 5000
SLOWER = 4
FRAMES = 240
ME = {"name": "bench", "role": "operator", "graphs": None, "version": "0", "read_only": False,
      "confirm_cost": None}  # fmt: skip
GRAPH = {"name": "made up", "labels": [], "generation": "g", "nodes": 1, "partitions": PLACES,
         "redefined": False}  # fmt: skip
# Times each callback of a frame, and the gaps between frames.
WATCH = """
() => {
  window.gaps = []; window.works = []; let last = 0;
  const asked = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => asked((now) => {
    const begin = performance.now();
    draw(now);
    window.works.push(performance.now() - begin);
  });
  const tick = (now) => { if (last) window.gaps.push(now - last); last = now; asked(tick); };
  asked(tick);
}
"""


def made_up_map(seed: int) -> dict[str, Any]:
    """A map of random partitions."""
    chance = random.Random(seed)
    sizes = sorted((int(chance.lognormvariate(5, 1)) + 1 for _ in range(PLACES)), reverse=True)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < LINKS:
        one, other = sorted(chance.sample(range(PLACES), 2))
        pairs.add((one, other))
    links = sorted(pairs)
    centers = lay_out(PLACES, np.array(links), np.ones(LINKS))
    areas = squarify([float(size) for size in sizes], *FRAME)
    return {
        "generation": "g",
        "level": 0,
        "links": [[one, other, 1.0] for one, other in links],
        "places": [
            {"id": i + 1, "label": f"topic {i}, of many", "nodes": size, "partitions": [i + 1],
             "pool": False, "x": float(centers[i, 0]), "y": float(centers[i, 1]),
             "area": [areas[i].x, areas[i].y, areas[i].width, areas[i].height]}
            for i, size in enumerate(sizes)
        ],
    }  # fmt: skip


@asynccontextmanager
async def browsed(base: str, answers: dict[str, Any]) -> AsyncIterator[Page]:
    """A page whose requests to the API get made-up answers."""
    from playwright.async_api import async_playwright

    async def reply(route: Route) -> None:
        way = route.request.url.removeprefix(base).partition("?")[0]
        await route.fulfill(json=answers.get(way, []))

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = await browser.new_page()
        await page.route("**/api/**", reply)
        yield page
        await browser.close()


async def usable_ms(page: Page, base: str, slower: int) -> float:
    """Milliseconds from the request until the question can be typed."""
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    await page.goto(base)
    await page.locator("#question").wait_for()
    took = await page.evaluate("performance.now()")
    await session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    return float(took)


async def moved(page: Page, base: str, drawing: str) -> dict[str, float]:
    """Drag and zoom the map; return the gaps between frames, and the script's time in each."""
    await page.goto(f"{base}/map?as={drawing}")
    canvas = page.locator(".board canvas")
    box = await canvas.bounding_box()
    assert box is not None
    await page.evaluate(WATCH)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    for step in range(FRAMES):
        await page.mouse.move(x + 80 * np.sin(step / 9), y + 50 * np.cos(step / 7))
    await page.mouse.up()
    for step in range(FRAMES // 4):
        await page.mouse.wheel(0, -30 if step % 20 < 10 else 30)
    gaps, works = await page.evaluate("[window.gaps, window.works]")
    return {
        "frames": len(gaps),
        "gap_ms": median(gaps),
        "script_p95_ms": quantiles(works, n=20)[-1],
    }


async def measure(seed: int) -> dict[str, Any]:
    """All figures."""
    files = page_files()
    runs = SimpleNamespace(deletion_token=unchanged)
    engine = cast(PGS, SimpleNamespace(settings=Settings(), config=PGSConfig(), runs=runs))
    answers = {
        "/api/me": ME, "/api/graphs": [GRAPH], "/api/graphs/made%20up/map": made_up_map(seed),
    }  # fmt: skip
    async with served(engine) as server, browsed(server.base, answers) as page:
        elsewhere: list[str] = []
        page.on(
            "request",
            lambda one: None if one.url.startswith(server.base) else elsewhere.append(one.url),
        )
        problems: list[str] = []
        page.on(
            "console",
            lambda said: problems.append(said.text) if said.type == "error" else None,
        )
        first = await usable_ms(page, server.base, 1)
        return {
            "gzip_bytes": sum(len(file.packed) for file in files.values()),
            "usable_ms": first,
            "usable_slow_ms": await usable_ms(page, server.base, SLOWER),
            "areas": await moved(page, server.base, "areas"),
            "network": await moved(page, server.base, "network"),
            "elsewhere": len(elsewhere),
            "console_errors": len(problems),
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    sys.stdout.write(json.dumps(asyncio.run(measure(chosen.seed)), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
