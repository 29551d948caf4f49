"""A browser as a person uses it, whose efforts are counted, and the demo that it uses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import Locator, Page

START_S: Final = 60
"""For the demo to start."""
WAIT_S: Final = 60
"""For anything that a page shows by itself, on a machine that does other things too."""
HEIGHT: Final = 844
"""Pixels of the screen."""
_UNREAD: Final = """() => {
  const seen = (window.seenByProof ??= new Set());
  const found = [document.body, ...document.querySelectorAll("dialog[open]")];
  const fresh = found.filter((each) => !seen.has(each));
  fresh.forEach((each) => seen.add(each));
  return fresh.map((each) => each.innerText).join(" ").split(/\\s+/).filter(Boolean).length;
}"""
"""The words of what was not on the screen at the last look: a page, a dialog."""
_LOADED: Final = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const pieces = performance.getEntriesByType("resource").filter(
    (each) => ["fetch", "xmlhttprequest"].includes(each.initiatorType) && each.responseEnd);
  const isNew = !window.loadedByProof;
  const seen = window.loadedByProof ?? 0;
  window.loadedByProof = pieces.length + 1;
  const fresh = pieces.slice(Math.max(seen - 1, 0));
  const whole = isNew ? page.duration || page.responseEnd : 0;
  return [isNew, fresh.reduce((sum, each) => sum + each.duration, whole)];
}"""
"""Whether the page is a new one, and milliseconds of it and its pieces since the last look."""


@dataclass(slots=True)
class Effort:
    """What one task takes."""

    clicks: int = 0
    fields: int = 0
    words: int = 0
    pages: int = 0
    """Those that the task leads to."""
    keys: int = 0
    """Letters that are typed, and keys that are pressed."""
    page_ms: float = 0
    """From asking for each page or piece until it is there."""


class Person:
    """Does what the page asks for, and counts it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.effort = Effort()

    def begin(self, address: str = "") -> None:
        """Begin a task, at a page whose words do not count; empty: they do, the page is new."""
        if address:
            self.page.goto(address)
            self.page.wait_for_load_state()
            self.page.evaluate(_UNREAD)
            self.page.evaluate(_LOADED)
        self.effort = Effort()

    def look(self) -> None:
        self.page.wait_for_load_state()
        self.effort.words += self.page.evaluate(_UNREAD)
        is_new, waited_ms = self.page.evaluate(_LOADED)
        self.effort.pages += is_new
        self.effort.page_ms += waited_ms

    def _found(self, role: str, name: str) -> Locator:
        self.look()
        inside = self.page.locator("main, dialog[open]")
        found = inside.get_by_role(role, name=re.compile(f"^{re.escape(name)}"))  # type: ignore[arg-type]
        return found.locator("visible=true").first

    def press(self, name: str, role: str = "button") -> None:
        self._found(role, name).click()
        self.effort.clicks += 1

    def follow(self, name: str) -> None:
        self.press(name, "link")

    def fill(self, label: str, text: str) -> None:
        self.look()
        main = self.page.locator("main, dialog[open]")
        main.get_by_label(label).locator("visible=true").first.fill(text)
        self.effort.fields += 1
        self.effort.keys += len(text)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.page.keyboard.type(text)
        self.effort.fields += 1
        self.effort.keys += len(text)

    def key(self, name: str) -> None:
        self.page.keyboard.press(name)
        self.effort.keys += 1

    def choose(self, label: str) -> None:
        self.look()
        self.page.locator("main").get_by_label(label).locator("visible=true").first.check()
        self.effort.clicks += 1

    def open(self, slug: str) -> None:
        self.look()
        self.page.locator(f"#side .nav a[href*='/{slug}']").first.click()
        self.effort.clicks += 1

    def see(self, selector: str) -> None:
        self.page.locator(selector).first.wait_for()
        self.look()

    def reach(self, selector: str) -> Locator:
        """Something on the page, which is scrolled to by its key, a screen at a time."""
        self.see(selector)
        found = self.page.locator(selector).locator("visible=true").first
        box = found.bounding_box()
        top = 0 if box is None else box["y"] + self.page.evaluate("scrollY")
        self.effort.keys += int(top // HEIGHT)
        return found

    def click(self, selector: str) -> None:
        self.reach(selector).click()
        self.effort.clicks += 1


@dataclass(frozen=True, slots=True)
class Demo:
    """A running demo, and the new customer in it."""

    data: Path
    base_url: str
    world: Mapping[str, str]
    """The environment in which commands of its source run."""
    email: str = "aicha@baraka.example"

    def text(self, sender: str, body: str) -> None:
        """Let a phone of the demo write."""
        self._risala("demo", "text", sender, body)

    def route(self, keyword: str, organization: str) -> None:
        """Give texts that begin with a word to an organization."""
        self._risala("inbound", "route", "--org", organization, "--keyword", keyword)

    def _risala(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "risala", *arguments, "--data", str(self.data)]
        subprocess.run(command, env=self.world, check=True, stdout=subprocess.DEVNULL)

    def mailed_code(self, email: str = "") -> str:
        """The code in the last mail to somebody; empty: the new customer."""
        outbox = Path(json.loads((self.data / "demo.json").read_text("utf-8"))["outbox"])
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            lines = outbox.read_text("utf-8").splitlines() if outbox.exists() else []
            mails = [each for each in map(json.loads, lines) if each["to"] == (email or self.email)]
            if mails and (found := re.search(r"\b\d{6}(?:\d\d)?\b", mails[-1]["text"])):
                return found[0]
            time.sleep(0.05)
        raise TimeoutError("no code came")


@contextmanager
def serving(source: Path) -> Iterator[Demo]:
    """The demo of a source, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        command = [sys.executable, "-m", "risala", "serve", "--demo", "--port", "0", "--data", name]
        world = os.environ | {"PYTHONPATH": str(source / "src")}
        process = subprocess.Popen(command, env=world, stdout=subprocess.DEVNULL)
        try:
            until = time.monotonic() + START_S
            while not (data / "demo.json").exists():
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError("the demo did not start")
                time.sleep(0.1)
            told = json.loads((data / "demo.json").read_text("utf-8"))
            yield Demo(data, told["base_url"], world)
        finally:
            process.terminate()
            process.wait()
