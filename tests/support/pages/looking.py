"""What a browser test looks at on every page: axe, width, what is forbidden or foreign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakSet

from markupsafe import Markup
from playwright.sync_api import BrowserContext, Page

from risala.http.web.languages import Words

AXE: Final = (Path(__file__).parents[2] / "browser/vendor/axe-core/axe.min.js").read_text("utf-8")
_HAVE_AXE: Final = WeakSet[BrowserContext]()
_RULES: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_OF_SCREENS: Final = (
    *("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"),
    *("aria-hidden-focus", "label", "link-name", "button-name", "region", "skip-link"),
)
"""The rules that another screen can break, by its colours or by what it shows and hides; all others
ask about elements, and a page has the same ones on each screen."""
WIDEST: Final = ("fr", "ar")
"""The languages that each page is looked at in: French has the longest words, Arabic other letters,
and runs the other way. English fits where both do."""
_LANGUAGE_OF_ALL: Final = "ar"
"""Axe looks at this language's pages. Others have the same elements and colours, and other words:
there a missing name would be missing here too. Where texts stand, which long words and other
letters move, is looked at in each language on the widest screen and on the narrowest."""
_RUN: Final = """(rules) => axe.run(document, {resultTypes: ["violations"], runOnly: rules})
.then((found) => found.violations.flatMap((each) => each.nodes.map((node) =>
  `${each.impact} ${each.id}: ${node.target.join(" ")}`)))"""
_OVER: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCREENS: Final = ((1280, "dark"), (360, "light"))
"""Those that each page is looked at on: width in pixels, and scheme of colours. On the first, axe
asks all."""


_MISPLACED: Final = """() => {
  const main = document.querySelector("main"), lines = [], found = new Set();
  // A message's text in a list is cut on purpose (clip), and a bar stands over what is below it.
  const unseen = "dialog:not([open]), .sr, .clip, .sendbar, [hidden], svg, option, thead, " +
    "details:not([open]) > :not(summary)";
  // What is scrolled away inside a part of the page is not seen: of a box, what is left of it.
  const seen = (whole, around) => {
    let { left, right, top, bottom } = whole;
    for (let up = around; up !== main; up = up.parentElement) {
      const style = getComputedStyle(up), part = up.getBoundingClientRect();
      if (["auto", "scroll"].includes(style.overflowY))
        [top, bottom] = [Math.max(top, part.top), Math.min(bottom, part.bottom)];
      if (["auto", "scroll"].includes(style.overflowX))
        [left, right] = [Math.max(left, part.left), Math.min(right, part.right)];
    }
    return { left, right, top, bottom, width: right - left };
  };
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const text = node.data.trim(), around = node.parentElement;
    if (!text || around.closest(unseen)) continue;
    // For who listens alone, on this screen.
    if (getComputedStyle(around).clipPath === "inset(50%)") continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const whole of range.getClientRects()) {
      const box = seen(whole, around);
      if (box.width > 1 && box.bottom > box.top)
        lines.push({ text: text.slice(0, 40), box, around, node });
    }
  }
  const shared = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left),
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  ];
  lines.forEach((one, at) => {
    for (const other of lines.slice(at + 1)) {
      if (one.node === other.node) continue;
      const [wide, high] = shared(one.box, other.box);
      // Boxes of neighbouring lines touch by what letters have below and above them.
      if (wide > 2 && high > 6) found.add(`“${one.text}” over “${other.text}”`);
    }
    for (let up = one.around; up !== main; up = up.parentElement) {
      const over = getComputedStyle(up).overflowX, is_cell = up.matches("td");
      if (over === "visible" && !is_cell) continue;
      const { left, right } = up.getBoundingClientRect();
      const runs_out = one.box.right > right + 1 || one.box.left < left - 1;
      if (runs_out && over !== "auto") found.add(`“${one.text}” runs out of what holds it`);
      break;
    }
  });
  // In a card of a list, what goes to its end: not to the end of a column in its middle.
  for (const row of main.querySelectorAll(".table.cards tbody tr")) {
    const style = getComputedStyle(row), edge = row.getBoundingClientRect();
    if (style.display !== "grid") continue;
    for (const cell of row.querySelectorAll(":scope > .end")) {
      const { left, right } = cell.getBoundingClientRect();
      const gap = style.direction === "rtl"
        ? left - edge.left - parseFloat(style.paddingLeft)
        : edge.right - parseFloat(style.paddingRight) - right;
      const text = cell.textContent.trim().slice(0, 40);
      if (right > left && text && gap > 2) found.add(`“${text}” ends in the middle of its card`);
    }
  }
  return [...found];
}"""


_LOOK: Final = (
    # From the top: where a page has scrolled by itself, a link may be half under its bar.
    "async (rules) => { window.scrollTo(0, 0);"
    f" return [rules.length ? await ({_RUN})(rules) : [], ({_MISPLACED})(), {_OVER}]; }}"
)
"""All of it at one stroke."""


def violations(page: Page, rules: Sequence[str] = _RULES) -> list[str]:
    """What axe finds wrong, of any weight."""
    _give_axe(page)
    return page.evaluate(_RUN, [*rules])


def _give_axe(page: Page) -> None:
    # By the debugger's protocol, which no policy of the page's is asked about. To send it with each
    # page took longer than what it does; what is loaded from now on has it from the start.
    if page.context not in _HAVE_AXE:
        page.context.add_init_script(AXE)
        _HAVE_AXE.add(page.context)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate(_OVER)


def misplaced(page: Page) -> list[str]:
    """Texts that stand over one another, that run out of a cell or of what cuts them off, or that
    end in the middle of a card."""
    return page.evaluate(_MISPLACED)


def wrong_on_any_screen(page: Page, address: str) -> list[str]:
    """What is wrong with a page on each of the screens: axe, texts that stand wrong, its width.

    The page is loaded once and its window changes, as that of a phone that is turned: no style and
    no script of ours reads the width or the kind of pointer when a page is loaded.
    """
    page.goto(address)
    _give_axe(page)
    found = []
    is_of_all = page.evaluate("document.documentElement.lang") == _LANGUAGE_OF_ALL
    # Where the page before left the window, this one begins: a change of it draws all anew.
    is_there = (page.viewport_size or {}).get("width") == SCREENS[-1][0]
    before: tuple[int | None, str | None] = (SCREENS[-1][0] if is_there else None, None)
    for width, scheme in SCREENS[::-1] if is_there else SCREENS:
        if width != before[0]:
            page.set_viewport_size({"width": width, "height": 844})
        if scheme != before[1]:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        before = width, scheme
        rules = _RULES if (width, scheme) == SCREENS[0] else _OF_SCREENS
        told, misplaced_texts, over = page.evaluate(_LOOK, [*rules] if is_of_all else [])
        told += misplaced_texts
        if over:
            told.append(f"{over} px too wide")
        found += [f"{address} at {width}, {scheme}: {each}" for each in told]
    return found


_OF_LEAVING = ("Failed to load resource", "htmx:sse:error: Failed to fetch")
"""What the console says of requests, streams among them, that end because the page is left."""


class Watch:
    """What goes wrong in a browser context while it looks at an origin."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.faults: list[str] = []
        context.on("console", lambda message: self._console(message.type, message.text))
        context.on("weberror", lambda error: self.faults.append(str(error.error)))
        context.on("request", lambda request: self._request(request.url, origin))

    def _console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(words in text for words in _OF_LEAVING):
            self.faults.append(text)

    def _request(self, url: str, origin: str) -> None:
        if not url.startswith(origin):
            self.faults.append(f"a request to {url}")


@dataclass(frozen=True)
class Speaker:
    """Somebody who works in a language, and finds things by their words."""

    language: str
    words: Words
    look: Callable[..., Page]

    def open(self, path: str, **options) -> Page:
        return self.look(path, self.language, **options)

    def says(self, sentence: str, **holes: str) -> str:
        return Markup(self.words(sentence, **holes)).striptags()

    def among(self, context: str, sentence: str) -> str:
        return Markup(self.words.among(context, sentence)).striptags()

    def counted(self, one: str, many: str, count: int) -> str:
        return Markup(self.words.counted(one, many, count, n=str(count))).striptags()
