"""The pictures of the first page, of a clinic in Kenya that sends; ``make pictures`` takes them."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from doc_blocks import ROOT
from journey import Hand, words_of
from patience import HANG_S, until
from processes import Process

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]

PICTURES = os.environ.get("RISALA_PICTURES")
SHOWN = ("overview", "composer", "message", "mailing", "connect", "carriers", "init")
THEMES = ("light", "dark")
SETTLES_MS = 800
SIZE = {"width": 1060, "height": 720}
QUALITY = 60
"""In percent: text is still sharp."""
SETTINGS = """
[numbers]
countries = ["KE"]
[service]
currency = "KES"
[pricing]
per_segment = "1.00"
[http]
port = 0
[mail]
mailer = "outbox"
outbox = "{data}/outbox.jsonl"
[[carriers]]
name = "safaricom"
driver = "loopback"
networks = ["KE/Safaricom"]
[[carriers]]
name = "sim-1"
driver = "loopback"
[[carriers]]
name = "airtel"
driver = "smpp"
networks = ["KE/Airtel"]
[carriers.smpp]
host = "127.0.0.1"
port = 1
system_id = "clinic"
password = "secret"
"""
"""Three carriers, of which one does not answer."""
PEOPLE = """\
name,phone,day,time
Wanjiku,0712 123456,Monday,9:30
Otieno,0733 123456,Monday,10:00
Achieng,0720 554321,Tuesday,14:15
Kamau,0722 908070,Friday,8:45
"""
REMINDER = "Dear {{name}}, we see you on {{day}} at {{time}}. Lakeside Clinic"
TEXTS = (
    "Your test result is ready. Please come by until 5 pm. Lakeside Clinic",
    "Your code is 416209. It is good for ten minutes.",
    "Thank you for your visit. Your invoice is paid: KES 1,200.",
)
ANSWERS = """\
country = "KE"
payer = "self"
carrier = "trial"
operator = "amina@lakeside.example"
phone = "0712 123456"
port = "0"
"""
OPERATOR = "operator@lakeside.example"
LINES = 10
"""Of a first run, from its end."""


class Camera:
    """Takes a page as it looks by day and by night."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._devtools = page.context.new_cdp_session(page)

    def take(self, name: str) -> None:
        self._page.wait_for_timeout(SETTLES_MS)  # a page that streams is never idle
        self._page.mouse.move(0, 0)
        for theme in THEMES:
            self._page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            asked = {"format": "webp", "quality": QUALITY}
            taken = base64.b64decode(self._devtools.send("Page.captureScreenshot", asked)["data"])
            if PICTURES:
                folder = Path(PICTURES) / "pictures"
                folder.mkdir(exist_ok=True)
                (folder / f"{name}-{theme}.webp").write_bytes(taken)


TERMINAL = """<!doctype html><meta charset=utf-8><style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; background: light-dark(#f6f8fa, #0d1117); color: light-dark(#1f2328, #e6edf3); }}
pre {{ margin: 0; padding: 20px 24px; font: 15px/1.55 monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; }}
b {{ color: light-dark(#1a7f37, #3fb950); }}
</style><pre>{lines}</pre>"""


def first_run(place: Path) -> list[str]:
    """What `risala init` says at its end, in a folder of its own."""
    place.mkdir()
    (place / "answers.toml").write_text(ANSWERS)
    command = [sys.executable, "-m", "risala", "init", "--yes", "--file", "answers.toml"]
    done = subprocess.run(
        command,
        cwd=place,
        stdout=-1,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=HANG_S,
    )
    said = done.stdout.replace(f"{place}/", "").splitlines()[-LINES:]
    return [re.sub(r"(sk_live_.{4})\w+|(/link/.{6})[\w-]+", r"\1\2…", line) for line in said]


def show_terminal(page: Page, lines: list[str]) -> None:
    shown = [
        re.sub(r"^(sk_live\S+|http\S+|curl .*|risala .*)$", r"<b>\1</b>", html.escape(line))
        for line in lines
    ]
    page.set_content(TERMINAL.format(lines="\n".join(shown)))
    height = page.locator("pre").evaluate("(pre) => Math.ceil(pre.getBoundingClientRect().height)")
    page.set_viewport_size({"width": 860, "height": height})


def test_the_first_page(
    browser: Browser, tmp_path: Path, serve_demo: Callable[..., AbstractContextManager]
) -> None:
    data = tmp_path / "demo"
    data.mkdir()
    (tmp_path / "people.csv").write_text(PEOPLE)
    with serve_demo(data, options=("--country", "KE")) as demo:
        context = browser.new_context(viewport=SIZE, locale="en", reduced_motion="reduce")
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        hand, camera = Hand(page, words_of("en")), Camera(page)
        base, email = demo.file["base_url"], "amina@lakeside.example"
        page.goto(f"{base}/sign-up")
        hand.fill("E-mail address", email)
        hand.press("Send me a code")
        hand.see(hand.field("6-digit code"))
        hand.fill("6-digit code", demo.mailed_code(email))
        hand.press("Sign in")
        hand.see(hand.field("Name of the new organization"))
        hand.fill("Name of the new organization", "Lakeside Clinic")
        hand.press("Create the organization")
        page.wait_for_url("**/app/org_*/start")
        organization = re.search(r"org_\w+", page.url)[0]
        demo.risala("topup", organization, "500")
        demo.risala("price", "set", organization, "1.00")
        numbers = [line.split(",")[1] for line in PEOPLE.splitlines()[1:]]
        for number in numbers:
            for text in TEXTS:
                demo.risala("send", "--org", organization, number, text)

        hand.open("messages")
        hand.follow("New message")
        hand.fill("To", numbers[0])
        hand.fill("Text", TEXTS[0])
        camera.take("composer")
        hand.press("Send")
        page.wait_for_url("**/messages/sms_*")
        hand.see(page.locator("#state .is-delivered"))
        page.reload()  # without the note that it was accepted
        camera.take("message")

        ours, people = ("--org", organization), str(tmp_path / "people.csv")
        demo.risala("list", "create", "Patients", *ours, "--file", people)
        how = ("--list", "Patients", "--hours", "0-24", "--yes", "--wait")
        demo.risala("mailing", "send", *ours, *how, "--text", REMINDER)
        hand.open("mailings")
        page.locator("main a[href*='/mailings/mlg_']").first.click()
        page.wait_for_url("**/mailings/mlg_*")
        page.wait_for_timeout(SETTLES_MS)  # the phones answer meanwhile
        page.reload()
        camera.take("mailing")
        hand.open("connect")
        camera.take("connect")
        hand.open("overview")
        camera.take("overview")

        context.close()


def test_the_carriers(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "risala.toml").write_text(SETTINGS.format(data=data))
    risala = (sys.executable, "-m", "risala")
    service = Process([*risala, "serve", "--data", str(data)], tmp_path)
    base = service.wait_line(lambda line: line.startswith("Risala is running at ")).split()[-1]
    create = [*risala, "user", "create", OPERATOR, "--operator", "--data", str(data)]
    subprocess.run(create, check=True, cwd=tmp_path, timeout=HANG_S)
    page = browser.new_page(viewport={**SIZE, "height": 610}, locale="en")
    hand = Hand(page, words_of("en"))
    page.goto(f"{base}/operator/sign-in")
    page.locator("[name=email]").fill(OPERATOR)
    page.keyboard.press("Enter")
    hand.see(page.locator("[name=code]"))
    mail = until((data / "outbox.jsonl").read_text, "a mail")
    page.locator("[name=code]").fill(re.search(r"\b\d{6,8}\b", json.loads(mail)["text"])[0])
    hand.press("Sign in")
    page.wait_for_url("**/operator/**")
    page.goto(f"{base}/operator/carriers")
    Camera(page).take("carriers")
    page.context.close()
    service.end()


def test_the_first_run(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 860, "height": 300})
    show_terminal(page, first_run(tmp_path / "risala"))
    Camera(page).take("init")
    page.context.close()


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("theme", THEMES)
def test_the_pictures_are_there_and_light(name: str, theme: str) -> None:
    assert (ROOT / f"docs/pictures/{name}-{theme}.webp").stat().st_size < 60_000
