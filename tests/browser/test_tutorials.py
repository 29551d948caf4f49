"""The tutorials that need a browser, from start to end, as their pages say it.

``RISALA_PICTURES=docs`` puts the dashboard's pictures below it: ``make pictures``. Then its French
and Arabic tutorials are gone through too. Else tests/docs/pages/test_translations.py compares their
words with the catalogues, which is enough for every run.
"""

from __future__ import annotations

import base64
import os
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from clean import clean_environment
from doc_blocks import LANGUAGE_LINE, ROOT, prose
from journey import Hand, words_of
from looking import Watch
from patience import HANG_S, until
from processes import Process
from rehearsal import Play, playing
from risala.engine.model.people import Language

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]

PICTURES = os.environ.get("RISALA_PICTURES")
LANGUAGES_PLAYED = ("en", "fr", "ar") if PICTURES else ("en",)
CARD = {"en": "Card (sandbox)", "fr": "Carte (essai)", "ar": "بطاقة (تجربة)"}
"""A name that a payment method has of its own, in no catalogue."""
QUALITY = 60
"""Of pictures, in percent: text is still sharp, and a page takes some 20 KB."""


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    with playing(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clean_environment(tmp_path_factory.mktemp("clean"))


def code_in(terminal: Process, part: str, count: int = 1) -> str:
    """The last of so many codes that a terminal shows in lines with ``part``."""

    def found() -> str | None:
        codes = [re.findall(r"\b\d{6}\b", line) for line in terminal.lines if part in line]
        said = [each[-1] for each in codes if each]
        return said[-1] if len(said) >= count else None

    return until(found, f"a code in {part}")


def folder_of(language: Language) -> Path:
    return Path("tutorials" if language == "en" else f"{language}/tutorials")


class ByTheBook(Hand):
    """Touches only what the tutorial tells in bold, and knows what it has not touched yet."""

    def __init__(self, page: Page, tutorial: str, language: Language) -> None:
        super().__init__(page, words_of(language))
        bold = re.findall(r"\*\*(.+?)\*\*", LANGUAGE_LINE.sub("", tutorial), re.S)
        self.told = {" ".join(each.split()) for each in bold}
        self.untold: set[str] = set()
        self.left = set(self.told)

    def said(self, sentence: str) -> str:
        said = super().said(sentence)
        (self.left.discard if said in self.told else self.untold.add)(said)
        return said


class Camera:
    """Takes the pictures that the page shows, where pictures are wanted."""

    def __init__(self, page: Page, tutorial: str, language: Language) -> None:
        self._page = page
        self.wanted = re.findall(r"\(pictures/(\w+)\.webp\)", tutorial)
        self._folder = PICTURES and Path(PICTURES) / folder_of(language) / "pictures"
        self._devtools = page.context.new_cdp_session(page)

    def take(self, name: str) -> None:
        self.wanted.remove(name)
        if self._folder is not None:
            self._page.mouse.move(0, 0)
            asked = {"format": "webp", "quality": QUALITY}
            taken = self._devtools.send("Page.captureScreenshot", asked)["data"]
            self._folder.mkdir(exist_ok=True)
            (self._folder / f"{name}.webp").write_bytes(base64.b64decode(taken))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[str, Language], Page]]:
    contexts, watches = [], []

    def begin(url: str, language: Language) -> Page:
        options = {"viewport": {"width": 1100, "height": 720}, "reduced_motion": "reduce"}
        context = browser.new_context(locale=language, **options)
        contexts.append(context)
        watches.append(Watch(context, url))
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        return page

    yield begin
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


@pytest.mark.parametrize("language", LANGUAGES_PLAYED)
def test_the_dashboard(play, clean, visit, language):
    tutorial = prose(ROOT / "docs" / folder_of(language) / "dashboard.md")
    book = play("docs/tutorials/dashboard.md", prefix=clean)
    demo = book.serve('make serve ARGS="--country KE --data /tmp/risala-demo"')
    demo.wait_line(lambda line: line.startswith("Stop with"))
    base = book.words["http://127.0.0.1:8080"]
    page = visit(base, language)
    hand, camera = ByTheBook(page, tutorial, language), Camera(page, tutorial, language)

    page.goto(f"{base}/sign-up")
    hand.fill("E-mail address", "amina@lakeside.example")
    hand.press("Send me a code")
    hand.see(hand.field("6-digit code"))
    hand.fill("6-digit code", code_in(demo, ""))
    hand.press("Sign in")
    hand.see(hand.field("Name of the new organization"))
    hand.fill("Name of the new organization", "Lakeside Clinic")
    hand.press("Create the organization")
    page.wait_for_url("**/app/org_*/start")
    hand.press("Run")
    hand.see(page.locator("#arrival .is-delivered"))
    expect(page.locator(".todo li.done")).to_have_count(2)
    camera.take("start")

    hand.open("billing")
    hand.unfold("Top up")
    hand.choose(CARD[language])
    hand.fill("Amount", "200")
    hand.press("Go on")
    hand.follow("Go to the checkout")
    hand.fill("Card number", "4242 4242 4242 4242")
    hand.press("Pay")
    hand.see(hand.named("link", "Receipt"))
    hand.open("billing")
    camera.take("billing")

    hand.open("messages")
    hand.follow("New message")
    hand.fill("To", "0712 123456")
    hand.fill("Text", "Your test result is ready. Please come by until 5 pm. Lakeside Clinic")
    page.wait_for_load_state("networkidle")
    camera.take("composer")
    hand.press("Send")
    page.wait_for_url("**/messages/sms_*")
    hand.see(page.locator("#state .is-delivered"))
    camera.take("message")

    hand.open("keys")
    hand.follow("New key")
    hand.fill("Name", "Shop server")
    hand.press("Create")
    hand.see(page.locator("input#secret"))
    hand.follow("I have saved it")

    hand.open("verify")
    hand.follow("Try it")
    hand.fill("Number", "0712 123456")
    hand.press("Send the code")
    hand.see(hand.field("Code"))
    hand.fill("Code", code_in(demo, "reads, from"))
    hand.press("Check the code")
    hand.see(page.locator("main .badge.is-approved"))
    camera.take("verify")
    hand.open("overview")
    hand.see(page.get_by_role("heading").first)
    camera.take("overview")

    assert (hand.left, hand.untold - {words_of(language)("Menu")}) == (set(), set())
    assert camera.wanted == []
    demo.interrupt()


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_the_pictures_are_there_and_light(language):
    folder = ROOT / "docs" / folder_of(language)
    shown = re.findall(r"\((pictures/\w+\.webp)\)", prose(folder / "dashboard.md"))
    assert sorted(shown) == sorted(
        str(each.relative_to(folder)) for each in folder.glob("pictures/*")
    )
    assert all((folder / each).stat().st_size < 60_000 for each in shown)


def test_verify_a_number(play, clean, open_page, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        site = f"127.0.0.1:{free.getsockname()[1]}"
    here = {"/tmp/verify-page": str(tmp_path / "page"), "127.0.0.1:8000": site}
    here["examples/"] = f"{ROOT}/examples/"
    book = play("docs/tutorials/verify-a-number.md", here, clean)
    demo = book.serve('make serve ARGS="--data /tmp/risala-demo"')
    demo.wait_line(lambda line: line.startswith("Stop with"))
    book.untyped = (". .venv/bin/activate",)
    book.type("sh", "export RISALA_DATA")
    (key,) = (line for line in book.type("sh", "--type publishable") if line.startswith("pk_"))
    book.type("sh", "cp -r")
    config = book.block("js", "window.RISALA").text.replace("pk_live_…", key)
    (tmp_path / "page/config.js").write_text(book.here(config))
    server = book.here(book.block("python", "Site").text)
    server = server.replace("8000", site.partition(":")[2])
    (tmp_path / "page/server.py").write_text(server)
    started = book.block("sh", "server.py")
    export, serve = (command for command, _ in started.commands)
    book.run(export)
    book.run(f"{serve} >said 2>&1 & echo $! >pid")
    book.compared.append(started)
    book.run(f"until curl -sf -o /dev/null http://{site}/; do sleep 0.1; done")

    page = open_page(f"http://{site}")
    page.get_by_label("Phone number").fill("36 12 34 56")
    page.get_by_role("button", name="Send the code").click()
    page.get_by_label("The code in the SMS").fill(code_in(demo, "reads, from"))
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("heading", name="Verified")).to_be_visible()
    expect(page).to_have_title("Welcome")
    said = [line for line in (tmp_path / "page/said").read_text().splitlines() if "theirs" in line]
    book.compare("text", "is theirs", said)
    # What a visitor makes up, and what was taken before, is not believed.
    again = "(id) => fetch('/sign-up', {method: 'POST', body: id}).then((answer) => answer.status)"
    assert page.evaluate(again, "ver_0") == 403
    book.run("kill $(cat pid)")
    demo.interrupt()
