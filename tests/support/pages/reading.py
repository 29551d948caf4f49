"""How much a person reads and presses on the way through pages."""

from __future__ import annotations

from playwright.sync_api import Page

_COUNT = """
addEventListener("click", (event) => {
  if (event.isTrusted && event.detail > 0) countClick();
}, true);
"""
"""Presses of a pointer; not those that a browser makes from a key or from a label's click."""


class WordCounter:
    """Counts the words of the pages that a person is led through, and the presses on them.

    A word counts on each page that shows it, in the menu and in code too. Text that is folded away
    does not count.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.words = 0
        self.clicks = 0
        page.expose_function("countClick", self._clicked)
        page.add_init_script(_COUNT)
        page.evaluate(_COUNT)

    def _clicked(self) -> None:
        self.clicks += 1

    def see(self) -> int:
        """Count what the page shows now, and say how many words that is."""
        found = len(self._page.evaluate("document.body.innerText").split())
        self.words += found
        return found
