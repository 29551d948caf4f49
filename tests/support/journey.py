"""A new customer's way through the pages, by whatever moves a browser: a hand, keys, no script.

The steps are told once, in English; what stands on buttons and beside fields is looked up in the
reader's catalogue, as they look for it on the page.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue

from playwright.sync_api import Locator, Page, expect

from looking import overflow, violations
from patience import HANG_S, until
from risala.engine.model.people import Language
from risala.http.web.languages import Words, load_words

STOPS_MAX = 120
"""More stops of the Tab key than any page has: past them what is looked for cannot be reached."""
LOOKS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
"""What each step is looked at in: the width in pixels, and the colours. The last two are for
pictures alone: every page is tried in all of them elsewhere."""


class Hand:
    """Presses what it sees, with a mouse or a thumb."""

    def __init__(self, page: Page, words: Words) -> None:
        self.page = page
        self.words = words

    def said(self, sentence: str) -> str:
        """A sentence in the reader's language; a number in it may be a hole of the catalogue's."""
        said = str(self.words(sentence))
        number = re.search(r"\d+", sentence)
        if number is None or said != sentence:
            return said
        return str(self.words(sentence.replace(number[0], "{n}", 1), n=number[0]))

    def _there(self, found: Locator) -> Locator:
        return found.locator("visible=true").first

    def field(self, label: str) -> Locator:
        """By its label; one that may be left empty says so behind it."""
        return self._there(self.page.locator("main").get_by_label(self.said(label)))

    def named(self, role: str, name: str) -> Locator:
        inside = self.page.get_by_role("main")
        return self._there(inside.get_by_role(role, name=self.said(name), exact=True))

    def fill(self, label: str, text: str) -> None:
        self.field(label).fill(text)

    def choose(self, label: str) -> None:
        self.field(label).check()

    def press(self, name: str) -> None:
        self.named("button", name).click()

    def unfold(self, name: str) -> None:
        """What stands behind a button of its own."""
        self.fold(name).click()

    def fold(self, name: str) -> Locator:
        return self._there(self.page.locator("main summary", has_text=self.said(name)))

    def follow(self, name: str) -> None:
        self.named("link", name).click()

    def open(self, slug: str) -> None:
        """A page by the menu, which a phone shows when it is asked to."""
        link = self.page.locator(f"#side .nav a[href$='/{slug}']")
        if not link.is_visible():
            self.page.get_by_role("button", name=self.said("Menu")).click()
        link.click()
        self.page.wait_for_url(f"**/{slug}")

    def see(self, found: Locator) -> None:
        """Wait until the page shows it, by itself."""
        expect(found).to_be_visible(timeout=HANG_S * 1000)

    def reload_until(self, found: Locator) -> None:
        """For what no stream tells the page."""

        def shown() -> bool:
            self.page.reload()
            return found.is_visible()

        until(shown, str(found))


class Unscripted(Hand):
    """A browser whose script is switched off: what changes is seen by a reload."""

    def see(self, found: Locator) -> None:
        self.page.wait_for_load_state()
        if not found.is_visible():
            self.reload_until(found)


class Keys(Hand):
    """Tab, Enter, Space, the arrows and what is typed: no pointer ever."""

    def reach(self, found: Locator) -> None:
        self.see(found)
        for _ in range(STOPS_MAX):
            if found.evaluate("(node) => node === document.activeElement"):
                return
            at_skip = self.page.evaluate("document.activeElement.matches('.skip')")
            self.page.keyboard.press("Enter" if at_skip else "Tab")
        raise AssertionError(f"Tab does not lead to {found}")

    def fill(self, label: str, text: str) -> None:
        self.reach(self.field(label))
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, label: str) -> None:
        field = self.field(label)
        if field.get_attribute("type") == "checkbox":
            self.reach(field)
            self.page.keyboard.press("Space")
        else:  # of a group Tab reaches the chosen one, and the arrows go on
            group = f"input[name='{field.get_attribute('name')}']"
            self.reach(self._there(self.page.locator(f"{group}:checked")))
            for _ in range(self.page.locator(group).count()):
                if not field.is_checked():
                    self.page.keyboard.press("ArrowDown")
        expect(field).to_be_checked()

    def press(self, name: str) -> None:
        self.reach(self.named("button", name))
        self.page.keyboard.press("Enter")

    def unfold(self, name: str) -> None:
        self.reach(self.fold(name))
        self.page.keyboard.press("Enter")

    def follow(self, name: str) -> None:
        self.reach(self.named("link", name))
        self.page.keyboard.press("Enter")

    def open(self, slug: str) -> None:
        link = self.page.locator(f"#side .nav a[href$='/{slug}']")
        self.page.locator("#main").evaluate("(node) => node.focus()")
        self.page.keyboard.press("g")
        self.page.keyboard.press(str(link.get_attribute("data-go")))
        self.page.wait_for_url(f"**/{slug}")


@dataclass
class Looker:
    """Looks at each step in all sizes and colours; pictures go to a folder where one is named."""

    page: Page
    name: str
    folder: Path | None
    steps: int = 0
    faults: list[str] = field(default_factory=list)
    """Of all steps: each is told at the end."""

    def look(self, step: str) -> None:
        self.steps += 1
        own = self.page.viewport_size
        for width, scheme in LOOKS if self.folder else LOOKS[:2]:
            self.page.set_viewport_size({"width": width, "height": 844})
            self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            if over := overflow(self.page):
                self.faults.append(f"{step}: {over} px too wide at {width}")
            found = [f"{step}: {each} ({width}, {scheme})" for each in violations(self.page)]
            self.faults += found
            if self.folder is not None:
                name = f"{self.name}-{self.steps:02}-{step}-{width}-{scheme}.png"
                self.page.screenshot(path=self.folder / name, full_page=True)
        assert own is not None
        self.page.set_viewport_size(own)
        self.page.emulate_media(color_scheme="light")


@dataclass(frozen=True)
class Arrived:
    """What came to the customer's own server."""

    headers: dict[str, str]
    body: bytes

    @property
    def type(self) -> str:
        return str(json.loads(self.body)["type"])

    def is_signed_by(self, secret: str) -> bool:
        """By the scheme of Standard Webhooks."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode()
        made = hmac.digest(key, signed + self.body, hashlib.sha256)
        return f"v1,{base64.b64encode(made).decode()}" in self.headers["webhook-signature"].split()


@contextmanager
def receiver() -> Iterator[tuple[str, SimpleQueue[Arrived]]]:
    """The customer's server: its address, and what arrives there."""
    arrived: SimpleQueue[Arrived] = SimpleQueue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(204)
            self.end_headers()
            arrived.put(Arrived(headers, body))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook", arrived
        finally:
            server.shutdown()
            thread.join()


def words_of(language: str) -> Words:
    return load_words(Language(language))
