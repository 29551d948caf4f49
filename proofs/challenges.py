"""``make challenges``: how long a slow phone works at a challenge of the default difficulty.

A Chromium whose processor is slowed six times solves fifty challenges with the script that the
service serves, one after the other. The middle one may take two seconds. While it works the page
has to go on drawing: the longest time between two pictures is measured too.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import statistics
import sys
from collections.abc import Sequence
from typing import Any, Final

from playwright.sync_api import Route, sync_playwright

from proofs import evidence
from proofs.evidence import ROOT
from risala.config.model import LimitsSection
from risala.engine.features.challenges.challenges import ID_CHARACTERS
from risala.engine.features.challenges.rules import Challenge, is_solved

COUNT: Final = 50
SLOWED: Final = 6
"""What Lighthouse and Chromium's own tools take for a cheap phone."""
MEDIAN_MAX_MS: Final = 2000
MODULE: Final = ROOT / "src/risala/http/static/clients/risala.js"
SITE: Final = "http://page.example/"
HEADER: Final = (
    *("Processor", "Bits", "Challenges", "Median", "90 of 100", "Longest"),
    "Longest between two pictures",
)
_SOLVE: Final = """async (challenge) => {
  const { solveChallenge } = await import("/risala.js");
  let last = performance.now(), gap = 0, over = false;
  const draw = () => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    if (!over) requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
  const begun = performance.now();
  const { nonce } = await solveChallenge(challenge);
  over = true;
  return { nonce, took: performance.now() - begun, gap };
}"""


def _serve(route: Route) -> None:
    if route.request.url.endswith(".js"):
        route.fulfill(content_type="text/javascript", body=MODULE.read_text("utf-8"))
    else:
        route.fulfill(content_type="text/html", body="<!doctype html><p>Working</p>")


def measured(slowed: int, bits: int, count: int) -> list[dict[str, Any]]:
    """How long each challenge took, in milliseconds.

    Raises:
        SystemExit: an answer does not hold.
    """
    found = []
    with sync_playwright() as playwright:
        names = ("chromium-headless-shell", "chromium", "chromium-browser")
        chromium = next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.route("**/*", _serve)
        page.goto(SITE)
        tools = page.context.new_cdp_session(page)
        tools.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        for _ in range(count):
            made = Challenge(secrets.token_hex(ID_CHARACTERS // 2), bits)
            solved = page.evaluate(_SOLVE, made.wire())
            if not is_solved(made, solved["nonce"]):
                sys.exit(f"{solved['nonce']} does not answer {made.id}.")
            found.append(solved)
        browser.close()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    usual = LimitsSection().verify_challenge_bits
    parser = argparse.ArgumentParser(prog="make challenges", description=__doc__)
    parser.add_argument("--bits", type=int, default=usual, help="another difficulty")
    parser.add_argument("--count", type=int, default=COUNT, help="so many challenges")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    given = parser.parse_args(arguments)
    rows, medians = [], {}
    for slowed in (1, SLOWED):
        found = measured(slowed, given.bits, given.count)
        took = sorted(each["took"] for each in found)
        medians[slowed] = statistics.median(took)
        times = (medians[slowed], took[(len(took) * 9 - 1) // 10], took[-1])
        gap = max(each["gap"] for each in found)
        processor = "as it is" if slowed == 1 else f"slowed {slowed} times"
        shown = [f"{each:.0f} ms" for each in (*times, gap)]
        rows.append([processor, given.bits, given.count, *shown])
        print(*rows[-1], sep=", ")
    is_usual = (given.bits, given.count) == (usual, COUNT)
    if is_usual and not given.no_page:
        evidence.write("challenges", HEADER, rows, command="make challenges")
    return int(medians[SLOWED] > MEDIAN_MAX_MS)


if __name__ == "__main__":
    sys.exit(main())
