"""``make clicks``: what a person presses, types and reads for some tasks of the pages.

A browser does each task in English, on a screen of 1280 pixels, as the pages lead. Each begins at
the overview, but the first, which begins at sign-up. A word counts on each page that the person
sees after that one, in menus and code too; folded text does not. ``--before`` names the root of an
older source, and plays the same tasks there; what is not found there has dashes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from playwright.sync_api import Error, Locator, Page, sync_playwright

from proofs import evidence
from proofs.evidence import ROOT

START_S: Final = 60
"""For the demo to start, on a machine that does other things too."""
WAIT_S: Final = 10
"""For anything that a page shows by itself."""
_WAIT_MS: Final = WAIT_S * 1000
HEADER: Final = (
    *("Task", "Clicks", "Fields", "Words"),
    *("Clicks before", "Fields before", "Words before"),
)
_UNREAD: Final = """() => {
  const seen = (window.seenByProof ??= new Set());
  const found = [document.body, ...document.querySelectorAll("dialog[open]")];
  const fresh = found.filter((each) => !seen.has(each));
  fresh.forEach((each) => seen.add(each));
  return fresh.map((each) => each.innerText).join(" ").split(/\\s+/).filter(Boolean).length;
}"""
"""The words of what was not on the screen at the last look: a page, a dialog."""


@dataclass(slots=True)
class Effort:
    """What one task takes."""

    clicks: int = 0
    fields: int = 0
    words: int = 0


class Person:
    """Does what the page asks for, and counts it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.effort = Effort()

    def begin(self, address: str = "") -> None:
        """Begin a task, at a page whose words do not count; empty: they do, the page is new."""
        if address:
            self.page.goto(address)
            self.page.evaluate(_UNREAD)
        self.effort = Effort()

    def look(self) -> None:
        self.page.wait_for_load_state()
        self.effort.words += self.page.evaluate(_UNREAD)

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

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.page.keyboard.type(text)
        self.effort.fields += 1

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

    def mailed_code(self) -> str:
        outbox = Path(json.loads((self.data / "demo.json").read_text("utf-8"))["outbox"])
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            lines = outbox.read_text("utf-8").splitlines() if outbox.exists() else []
            mails = [each for each in map(json.loads, lines) if each["to"] == self.email]
            if mails and (found := re.search(r"\b\d{6}\b", mails[-1]["text"])):
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


# -- the tasks


def first_message(person: Person, demo: Demo) -> None:
    page = person.page
    page.goto(f"{demo.base_url}/sign-up")
    person.fill("E-mail address", demo.email)
    person.press("Send me a code")
    page.get_by_label("6-digit code").wait_for()
    person.fill("6-digit code", demo.mailed_code())
    person.press("Sign in")
    page.get_by_label("Name of the new organization").wait_for()
    person.fill("Name of the new organization", "Baraka Market")
    person.press("Create the organization")
    page.wait_for_url("**/start")
    if page.get_by_role("button", name="Run").count():
        person.press("Run")
        page.locator("#arrival .is-delivered").wait_for()
        return
    person.follow("Write one")  # a real message, for which there is no money yet
    page.wait_for_url("**/messages/new")
    person.follow("Write a test message")
    page.wait_for_url("**/messages/new?mode=test")
    _write(person, "36 12 34 00")
    person.see("#state .is-delivered")


def _write(person: Person, to: str) -> None:
    person.fill("To", to)
    person.fill("Text", "Your order is ready.")
    person.press("Send")


def top_up(person: Person, _: Demo) -> None:
    person.open("billing")
    person.choose("Card (sandbox)")
    person.fill("Amount", "200")
    person.press("Go on")
    person.follow("Go to the checkout")
    person.fill("Card number", "4242 4242 4242 4242")
    person.press("Pay")
    person.page.get_by_role("link", name="Receipt").wait_for()
    person.look()


def send_one(person: Person, _: Demo) -> None:
    person.follow("New message")
    _write(person, "36 12 34 56")
    person.page.wait_for_url("**/messages/sms_*")
    person.see("#state .is-delivered")


def find_by_number(person: Person, _: Demo) -> None:
    person.open("messages")
    person.fill("Number, text, id or cause", "36 12 34 56")
    person.press("Filter")
    person.page.wait_for_url("**q=*")
    person.see("tbody .rowlink")


def _find(person: Person, words: str, leads_to: str) -> None:
    """By the search over everything; in an older source by the search of messages, or on the page
    of keys."""
    page = person.page
    if page.locator("#seek").count():
        page.keyboard.press("Control+k")
        person.type(words)
        page.locator(f'#seek-list [role="option"][href*="{leads_to}"]').first.wait_for()
        person.look()
        page.keyboard.press("Enter")
    elif leads_to == "/messages/sms_":
        person.open("messages")
        person.fill("Number, text, id or cause", words)
        person.press("Filter")
        page.wait_for_url("**q=*")
        person.look()
        page.locator("tbody .rowlink").first.click()
        person.effort.clicks += 1
    else:
        person.open("keys")
        person.look()
        page.locator("tbody tr", has_text=words).locator("a").first.click()
        person.effort.clicks += 1
    page.wait_for_url(f"**{leads_to}*")
    person.look()


def find_by_digits(person: Person, _: Demo) -> None:
    _find(person, "3456", "/messages/sms_")


def find_by_the_carriers_word(person: Person, _: Demo) -> None:
    _find(person, "UNDELIV", "/messages/sms_")


def find_by_the_end_of_an_id(person: Person, demo: Demo) -> None:
    sent = (demo.data / "sent.txt").read_text("utf-8")
    _find(person, sent[-8:], "/messages/sms_")


def find_by_a_name(person: Person, _: Demo) -> None:
    _find(person, "Shop server", "/keys/key_")


def make_a_key(person: Person, _: Demo) -> None:
    person.open("keys")
    person.follow("New key")
    person.fill("Name", "Shop server")
    person.press("Create")
    person.see("input#secret")


def add_an_endpoint(person: Person, _: Demo) -> None:
    person.open("webhooks")
    person.follow("New endpoint")
    person.fill("Address", "https://shop.example/hook")
    person.choose("sms.delivered")
    person.press("Create")
    person.see("input#secret")


def invite(person: Person, _: Demo) -> None:
    person.open("members")
    person.follow("Invite somebody")
    person.fill("E-mail address", "omar@baraka.example")
    person.press("Invite")
    person.page.get_by_text("omar@baraka.example").first.wait_for()
    person.look()


def connect_software(person: Person, _: Demo) -> None:
    person.open("connect")
    person.follow("Grafana")
    person.fill("Numbers", "36 12 34 56")
    person.press("Make the hook")
    person.see("input#secret, input[readonly]")


def send_to_a_list(person: Person, _: Demo) -> None:
    person.follow("New message")
    person.fill("To", "Parents")
    person.fill("Text", "School begins on Monday.")
    person.press("Send")
    person.page.wait_for_url("**/mailings/mlg_*")
    person.press("Send", "link")
    person.press("Send")
    person.page.get_by_text("3 of 3").first.wait_for()
    person.look()


def see_why_it_failed(person: Person, _: Demo) -> None:
    person.open("messages")
    person.see("tbody .is-failed")
    person.page.locator("tbody tr:has(.is-failed) .rowlink").first.click()
    person.effort.clicks += 1
    person.see("#why strong")


def cap_spending(person: Person, _: Demo) -> None:
    person.open("settings")
    person.fill("Spend at most a day", "50")
    person.press("Save")
    person.see(".toast")


WRITERS: Final = ("+22236120011", "+22236120012", "+22236120013")
"""Of these the second one got no answer."""


def answer_a_text(person: Person, _: Demo) -> None:
    if not _has_conversations(person):
        person.open("inbound")
        person.see("tbody tr")
        person.open("messages")
        person.follow("New message")
        _write(person, "36 12 00 12")
        person.page.wait_for_url("**/messages/sms_*")
        return
    person.open("conversations")
    person.see("#people a")
    person.page.locator("#people a", has_text="36 12 00 12").click()
    person.effort.clicks += 1
    person.fill("Your answer", "Until 19 h.")
    person.press("Send")
    person.see("#flow .out")


def find_who_waits(person: Person, _: Demo) -> None:
    """Before there were conversations: to look for an answer to each text."""
    if _has_conversations(person):
        person.open("conversations")
        person.follow("Unread")
        person.see("#people .count")
        return
    person.open("inbound")
    person.see("tbody tr")
    for number in ("36 12 00 13", "36 12 00 12"):  # the newest first
        person.open("messages")
        person.fill("Number, text, id or cause", number)
        person.press("Filter")
        person.page.wait_for_url("**q=*")
        person.look()


def _has_conversations(person: Person) -> bool:
    return person.page.locator("#side .nav a[href*='/conversations']").count() > 0


Task = Callable[[Person, Demo], None]
TASKS: Final[tuple[tuple[str, Task], ...]] = (
    ("See the first message arrive, from sign-up on", first_message),
    ("Top up by card", top_up),
    ("Send one message", send_one),
    ("Find a message by its number", find_by_number),
    ("Make a key", make_a_key),
    ("Add a webhook endpoint", add_an_endpoint),
    ("Invite a member", invite),
    ("Connect software", connect_software),
    ("Send to a list", send_to_a_list),
    ("See why a message failed", see_why_it_failed),
    ("Set a spending cap", cap_spending),
    ("Find who waits for an answer", find_who_waits),
    ("Read a text and answer it", answer_a_text),
    ("Open a message by four digits of its number", find_by_digits),
    ("Open a message by the carrier’s word", find_by_the_carriers_word),
    ("Open a message by the end of its id", find_by_the_end_of_an_id),
    ("Open a key by its name", find_by_a_name),
)


def _prepare(person: Person, demo: Demo, home: str, task: Task) -> str:
    """What a task finds done, and the page where it begins; neither is counted."""
    page, begins = person.page, f"{home}/overview"
    if task is send_to_a_list:
        page.goto(f"{home}/lists")
        person.fill("Name", "Parents")
        person.fill("Or numbers", "36120001, 36120002, 36120003")
        person.press("Make the list")
        page.wait_for_url("**/lists/lst_*")
    if task is see_why_it_failed:
        page.goto(f"{home}/messages/new?mode=test")
        _write(person, "36 12 34 01")
        page.locator("#state .is-failed").wait_for()
        return f"{begins}?mode=test"
    if task in (find_by_the_carriers_word, find_by_the_end_of_an_id):
        undelivered = task is find_by_the_carriers_word
        page.goto(f"{home}/messages/new?mode=test")
        _write(person, "36 12 34 02" if undelivered else "36 12 34 00")
        page.locator(f"#state .is-{'un' * undelivered}delivered").wait_for()
        sent = page.url.partition("?")[0].rpartition("/")[2]
        (demo.data / "sent.txt").write_text(sent, "utf-8")
        return f"{begins}?mode=test"
    if task is find_who_waits:
        demo.route("shop", "Baraka Market")
        for writer in WRITERS:
            demo.text(writer, "shop: are you open today?")
        for writer in (WRITERS[0], WRITERS[2]):
            _answer(person, home, writer)
    return begins


def _answer(person: Person, home: str, number: str) -> None:
    page = person.page
    page.goto(f"{home}/overview")
    if not _has_conversations(person):
        page.goto(f"{home}/messages/new")
        _write(person, number)
        page.wait_for_url("**/messages/sms_*")
        return
    page.goto(f"{home}/conversations?q={number[1:]}")
    page.locator("#people a").first.click()
    page.get_by_label("Your answer").fill("Until 19 h.")
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("#flow .out").first.wait_for()


def measured(source: Path) -> list[Effort | None]:
    """What each task takes on the pages of a source; None: they do not lead there."""
    found: list[Effort | None] = []
    with serving(source) as demo, sync_playwright() as playwright:
        names = ("chromium-headless-shell", "chromium", "chromium-browser")
        chromium = next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(locale="en", viewport={"width": 1280, "height": 844})
        page = context.new_page()
        page.set_default_timeout(_WAIT_MS)
        person, home = Person(page), ""
        for name, task in TASKS:
            person.begin(_prepare(person, demo, home, task) if home else "")
            try:
                task(person, demo)
            except Error:
                if source == ROOT:
                    raise
                print(f"{name}: not found")
                found.append(None)
                continue
            home = home or page.url.partition("/start")[0].partition("/messages")[0]
            found.append(replace(person.effort))  # what comes before the next task is not its own
            print(f"{name}: {person.effort}")
        browser.close()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make clicks", description=__doc__)
    parser.add_argument("--before", type=Path, help="the root of an older source")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    given = parser.parse_args(arguments)
    now = measured(ROOT)
    cells = [[name, *_cells(each)] for (name, _), each in zip(TASKS, now, strict=True)]
    if given.before is None:
        older = {row[0]: row[len(HEADER) // 2 + 1 :] for row in evidence.rows("clicks")}
    else:
        before = measured(given.before.resolve())
        older = {name: _cells(each) for (name, _), each in zip(TASKS, before, strict=True)}
    if not given.no_page:
        rows = [[*row, *older.get(row[0], [""] * len(_cells(Effort())))] for row in cells]
        evidence.write("clicks", HEADER, rows, command="make clicks")
    return 0


def _cells(effort: Effort | None) -> list[str]:
    if effort is None:
        return ["–"] * (len(HEADER) // 2)
    return [str(each) for each in (effort.clicks, effort.fields, effort.words)]


if __name__ == "__main__":
    sys.exit(main())
